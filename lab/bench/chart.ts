import type { Case, Entry } from './case';
import { type MemoryRun, timesOf, worstOf } from './cases';
import { memoryAboveRows } from './report';
import { VARIANTS } from './workflows';

interface Bar {
	label: string;
	value: number;
	text: string;
	kind: 'ours' | 'others' | 'bound';
}

interface Panel {
	title: string;
	bars: Bar[];
}

const COLOURS: Record<Bar['kind'], string> = {
	ours: '#0b7a6f',
	others: '#a9b2bd',
	bound: '#e0b341',
};

const WIDTH = 880;
const LEFT = 300;
const RIGHT = 150;
const BAR = 20;
const STEP = 28;

/** A bar chart of the results as SVG; it has a background, so that it reads on dark pages too. */
export function chart(cases: Case[], memory: MemoryRun[]): string {
	const panels = [...cases.map(timePanel), ...memoryPanels(memory)];
	let y = 24;
	const parts: string[] = [];
	for (const panel of panels) {
		parts.push(drawPanel(panel, y));
		y += 36 + panel.bars.length * STEP + 20;
	}
	return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${String(WIDTH)} ${String(y)}" width="${String(WIDTH)}" height="${String(y)}" role="img" aria-label="Benchmark: shorter bars are better" font-family="system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif" font-size="13" fill="#1f2933">
<rect width="100%" height="100%" rx="8" fill="#ffffff" stroke="#d8dee4"/>
${parts.join('\n')}
</svg>
`;
}

function timePanel({ title, items, entries, boundMs }: Case): Panel {
	const bars = entries.map((entry): Bar => {
		const { ms } = timesOf(entry);
		const text = `${(ms / 1000).toFixed(1)} s${remarkOn(entry, items)}`;
		return { label: VARIANTS[entry.variant], value: ms, text, kind: kindOf(entry.variant) };
	});
	const text = `${(boundMs / 1000).toFixed(1)} s`;
	const bound: Bar = { label: 'arithmetic bound', value: boundMs, text, kind: 'bound' };
	return { title: `${title}: time`, bars: [...bars, bound] };
}

function remarkOn(entry: Entry, items: number): string {
	if (entry.scale > 1) return ` (${String(items / entry.scale)} × ${String(entry.scale)})`;
	const refused = worstOf(entry, (round) => round.refused);
	return refused > 0 ? `, ${String(refused)} items lost` : '';
}

function memoryPanels(runs: MemoryRun[]): Panel[] {
	const sizes = [...new Set(runs.map(({ items }) => items))];
	return sizes.map((items) => ({
		title: `${items.toLocaleString('en-US')} items: peak memory above the rows alone`,
		bars: runs
			.filter((run) => run.items === items && run.variant !== 'none')
			.map((run): Bar => {
				const value = memoryAboveRows(runs, run) / 1e6;
				const kind = kindOf(run.variant);
				return { label: VARIANTS[run.variant], value, text: `${value.toFixed(0)} MB`, kind };
			})
			.filter(({ value }) => !isNaN(value)),
	}));
}

function kindOf(variant: string): Bar['kind'] {
	return variant === 'leadgen' ? 'ours' : 'others';
}

function drawPanel({ title, bars }: Panel, top: number): string {
	const longest = Math.max(...bars.map(({ value }) => value));
	const rows = bars.map(({ label, value, text, kind }, index) => {
		const y = top + 32 + index * STEP;
		const width = Math.max(1, (value / longest) * (WIDTH - LEFT - RIGHT));
		const weight = kind === 'ours' ? ' font-weight="600"' : '';
		const middle = String(y + BAR / 2 + 5);
		return `<text x="${String(LEFT - 10)}" y="${middle}" text-anchor="end"${weight}>${label}</text>
<rect x="${String(LEFT)}" y="${String(y)}" width="${width.toFixed(1)}" height="${String(BAR)}" rx="3" fill="${COLOURS[kind]}"/>
<text x="${(LEFT + width + 8).toFixed(1)}" y="${middle}"${weight}>${text}</text>`;
	});
	return `<text x="24" y="${String(top + 14)}" font-size="15" font-weight="600">${title}</text>
${rows.join('\n')}`;
}
