import type { Course } from './simulation';

const WIDTH = 880;
const LEFT = 60;
const RIGHT = 20;
const HEIGHT = 90;
const STEP = 150;

/** The rate over time in each course as SVG: calls taken upwards, calls refused downwards in the same scale. */
export function drawCourses(courses: Course[]): string {
	const height = courses.length * STEP + 50;
	const panels = courses.map((course, index) => drawCourse(course, 34 + index * STEP));
	return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${String(WIDTH)} ${String(height)}" width="${String(WIDTH)}" height="${String(height)}" role="img" aria-label="Calls per second over time in five simulated services" font-family="system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif" font-size="12" fill="#1f2933">
<rect width="100%" height="100%" rx="8" fill="#ffffff" stroke="#d8dee4"/>
${panels.join('\n')}
<rect x="${String(LEFT)}" y="${String(height - 24)}" width="12" height="12" fill="#0b7a6f"/>
<text x="${String(LEFT + 18)}" y="${String(height - 14)}">calls taken</text>
<rect x="${String(LEFT + 110)}" y="${String(height - 24)}" width="12" height="12" fill="#c8553d"/>
<text x="${String(LEFT + 128)}" y="${String(height - 14)}">calls refused</text>
</svg>
`;
}

function drawCourse({ title, taken, refused, stepSeconds }: Course, top: number): string {
	const most = Math.max(...taken.map((count, part) => count + (refused[part] ?? 0)));
	const width = (WIDTH - LEFT - RIGHT) / taken.length;
	const bar = (part: number, from: number, count: number, colour: string) => {
		if (count === 0) return '';
		const size = (count / most) * HEIGHT;
		const y = top + 12 + HEIGHT - (from / most) * HEIGHT - size;
		return `<rect x="${(LEFT + part * width).toFixed(1)}" y="${y.toFixed(1)}" width="${Math.max(1, width - 0.5).toFixed(1)}" height="${size.toFixed(1)}" fill="${colour}"/>`;
	};
	const bars = taken.map((count, part) => {
		return bar(part, 0, count, '#0b7a6f') + bar(part, count, refused[part] ?? 0, '#c8553d');
	});
	const base = top + 12 + HEIGHT;
	const seconds = taken.length * stepSeconds;
	return `<text x="24" y="${String(top)}" font-size="14" font-weight="600">${title}</text>
<text x="${String(LEFT - 8)}" y="${String(top + 22)}" text-anchor="end">${(most / stepSeconds).toFixed(0)}/s</text>
<line x1="${String(LEFT)}" y1="${String(base)}" x2="${String(WIDTH - RIGHT)}" y2="${String(base)}" stroke="#a9b2bd"/>
${bars.filter((one) => one !== '').join('\n')}
<text x="${String(LEFT)}" y="${String(base + 15)}">0 s</text>
<text x="${String(WIDTH - RIGHT)}" y="${String(base + 15)}" text-anchor="end">${seconds.toFixed(0)} s</text>`;
}
