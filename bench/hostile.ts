import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { finishedScrapes, openBeside } from './burst';
import { KeptResults } from './kept';
import { watchProcess } from './processUse';

/** What one request does to n8n: milliseconds until its answer, and until n8n answers others again; megabytes. */
interface Effect {
	status: number;
	answered: number;
	silent: number;
	grown: number;
}

interface HostileBody {
	about: string;
	trigger: Effect;
	webhook: Effect;
}

const ROUNDS = 3;
const BYTES = 15_000_000;
const SETTLE_MS = 2000;

const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';
const repeat = (text: string, bytes: number, separator = ',') =>
	text + (separator + text).repeat(bytes / (text.length + separator.length));
const times = <T>(count: number, make: (index: number) => T) =>
	Array.from({ length: count }, (_, index) => make(index));

/** Within n8n's limit of 16 MB. @param ids of finished scrapes, which anyone may know */
function bodies(ids: string[]): Array<[about: string, body: string, type?: string]> {
	const strings = times(2000, () => '[');
	const lead = { name: 'Ada', email: 'ada@acme.example' };
	const json = JSON.stringify;
	return [
		['100 lists of 2,000 strings "["', json(times(100, () => strings))],
		['15 MB of lists: [[],[],…]', `[${repeat('[]', BYTES)}]`],
		['15 MB of lists as a text in JSON', json({ data: `[${repeat('[]', BYTES)}]` })],
		['2,000 lists inside each other', `${'['.repeat(2000)}${']'.repeat(2000)}`],
		['A string of 15 MB', json({ id: 'x'.repeat(BYTES) })],
		[
			'An object with 500,000 fields',
			json(Object.fromEntries(times(500_000, (at) => [`k${String(at)}`, at]))),
		],
		[
			'10,000 unknown scrape IDs',
			json(times(10_000, (at) => ({ scrapeId: `unknown-${String(at)}` }))),
		],
		['A form of 15 MB with nested names', repeat('leads[0][name]=Ada', BYTES, '&'), FORM_TYPE],
		['15 MB of text', repeat('scrape 1', BYTES, ' '), 'text/plain'],
		[
			'186 KB: five scrapes, 700 leads each',
			json({ scrapes: ids.map((scrapeId) => ({ scrapeId, leads: times(700, () => lead) })) }),
		],
	];
}

/** Sends each body to a trigger that listens, and to n8n's own Webhook node, each in a fresh n8n. */
async function measureHostile(say: (line: string) => void): Promise<HostileBody[]> {
	const results: Array<{ about: string; effects: Effect[] }> = [];
	for (const which of ['trigger', 'webhook'] as const) {
		const { field, url, plainUrl } = await openBeside({ output: 'leads' });
		try {
			const target = which === 'trigger' ? url : plainUrl;
			await fetch(target, { method: 'POST' });
			const idle = await memoryOf(field.pid);
			for (let at = 0; ; at++) {
				const rounds: Effect[] = [];
				let about = '';
				while (rounds.length < ROUNDS) {
					const all = bodies(await finishedScrapes(field, 5));
					const [name, body, type = JSON_TYPE] = all[at] ?? [];
					if (name === undefined) break;
					about = name;
					const endUse = await watchProcess(field.pid);
					const effect = await send(target, `${field.url}/healthz`, body ?? '', type);
					const peak = (await endUse())?.peakBytes ?? NaN;
					rounds.push({ ...effect, grown: Math.round((peak - idle) / 1e6) });
				}
				if (rounds.length === 0) break;
				const middle = (of: keyof Effect) =>
					rounds.map((round) => round[of]).sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? NaN;
				const effect = {
					status: middle('status'),
					answered: middle('answered'),
					silent: middle('silent'),
					grown: middle('grown'),
				};
				say(`  ${which}, ${about}: ${JSON.stringify(effect)}`);
				(results[at] ??= { about, effects: [] }).effects.push(effect);
			}
		} finally {
			await field.close();
		}
	}
	return results.flatMap(({ about, effects: [trigger, webhook] }) =>
		trigger && webhook ? [{ about, trigger, webhook }] : [],
	);
}

/** @param probe a URL that n8n answers at once if it can */
async function send(
	url: string,
	probe: string,
	body: string,
	type: string,
): Promise<Omit<Effect, 'grown'>> {
	const began = performance.now();
	const since = () => Math.round(performance.now() - began);
	let silent = 0;
	let isOver = false;
	const probing = (async () => {
		while (!isOver) {
			const from = since();
			await fetch(probe).catch(() => {});
			silent = Math.max(silent, since() - from);
			await sleep(10);
		}
	})();
	const { status } = await fetch(url, { method: 'POST', headers: { 'content-type': type }, body });
	const answered = since();
	await sleep(SETTLE_MS);
	isOver = true;
	await probing;
	return { status, answered, silent };
}

async function memoryOf(pid = 0): Promise<number> {
	const status = await readFile(`/proc/${String(pid)}/status`, 'utf8');
	return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
}

export const HOSTILE_TITLE = '## Hostile requests';
const kept = new KeptResults<HostileBody[]>('hostile');

export async function renewHostile(): Promise<void> {
	await kept.renew(() => measureHostile(console.log));
}

/** The part of docs/benchmark.md about requests of strangers. */
export function hostileReport(): string {
	const seconds = ({ answered }: Effect) => (answered / 1000).toFixed(2);
	const ratio = (a: number, b: number) => (a / Math.max(1, b)).toFixed(2);
	const rowOf = ({ about, trigger, webhook }: HostileBody) => [
		about,
		`${seconds(trigger)} / ${seconds(webhook)}`,
		ratio(trigger.answered, webhook.answered),
		`${String(trigger.silent)} / ${String(webhook.silent)}`,
		ratio(trigger.silent, webhook.silent),
		`${String(trigger.grown)} / ${String(webhook.grown)}`,
		ratio(trigger.grown, webhook.grown),
	];
	const head = ['Body', 'Answered, s', 'Ratio', 'Silence, ms', 'Ratio', 'Memory, MB', 'Ratio'];
	return `${HOSTILE_TITLE}

Bodies that anyone may send to the URL of a trigger that only listens, and to n8n's own Webhook node, each in a fresh n8n: LeadGen Trigger / Webhook node.
The silence is the longest time in which n8n did not answer \`/healthz\`. The memory is the highest resident memory of n8n above that before the first body. Each
number is the median of ${String(ROUNDS)} rounds. The trigger answers a body that names unknown scrapes after 8 seconds at most, because it looks these up.

${kept.tables(head, (results) => results.map(rowOf))}
`;
}
