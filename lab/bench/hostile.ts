import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { finishedScrapes, openBeside } from './burst';
import { Part } from './kept';
import { watchProcess } from './processUse';

/** What a request does to n8n: milliseconds until its answer, and until n8n answers others again; megabytes. */
interface Effect {
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

const FORM = 'application/x-www-form-urlencoded';
const json = JSON.stringify;
const many = (text: string, separator = ',') =>
	(text + separator).repeat(BYTES / (text.length + separator.length)) + text;
const times = <T>(count: number, make: (index: number) => T) =>
	Array.from({ length: count }, (_, index) => make(index));
const lead = { name: 'Ada', email: 'ada@acme.example' };

/** Bodies within n8n's limit of 16 MB. They get the IDs of finished scrapes, which anyone may know. */
const BODIES: Array<[about: string, make: (ids: string[]) => string, type?: string]> = [
	['100 lists of 2,000 strings "["', () => json(times(100, () => times(2000, () => '[')))],
	['15 MB of lists: [[],[],…]', () => `[${many('[]')}]`],
	['15 MB of lists as a text in JSON', () => json({ data: `[${many('[]')}]` })],
	['2,000 lists inside each other', () => '['.repeat(2000) + ']'.repeat(2000)],
	['A string of 15 MB', () => json({ id: 'x'.repeat(BYTES) })],
	['500,000 fields', () => `{${times(500_000, (at) => `"k${String(at)}":1`).join()}}`],
	[
		'10,000 unknown scrape IDs',
		() => json(times(10_000, (at) => ({ scrapeId: `none-${String(at)}` }))),
	],
	['A form of 15 MB with nested names', () => many('leads[0][name]=Ada', '&'), FORM],
	['15 MB of text', () => many('scrape 1', ' '), 'text/plain'],
	[
		'186 KB: five scrapes with 700 leads each',
		(ids) =>
			json({ scrapes: ids.map((scrapeId) => ({ scrapeId, leads: times(700, () => lead) })) }),
	],
];

/** Sends each body to a trigger that listens, or to n8n's own Webhook node, in a fresh n8n. */
async function measure(which: 'trigger' | 'webhook', say: (line: string) => void) {
	const { fixture, url, plainUrl } = await openBeside({ output: 'leads' });
	const effects: Effect[] = [];
	try {
		for (const [about, make, type = 'application/json'] of BODIES) {
			const rounds: Effect[] = [];
			while (rounds.length < ROUNDS) {
				const body = make(await finishedScrapes(fixture, 5));
				const before = await memoryOf(fixture.pid);
				const endUse = await watchProcess(fixture.pid);
				const target = which === 'trigger' ? url : plainUrl;
				const effect = await send(target, `${fixture.url}/healthz`, body, type);
				const peak = (await endUse())?.peakBytes ?? NaN;
				rounds.push({ ...effect, grown: Math.round((peak - before) / 1e6) });
			}
			say(`  ${which}, ${about}: ${json(rounds)}`);
			const middle = (of: keyof Effect) =>
				rounds.map((round) => round[of]).sort((a, b) => a - b)[(ROUNDS - 1) / 2] ?? NaN;
			const [answered, silent, grown] = [middle('answered'), middle('silent'), middle('grown')];
			effects.push({ answered, silent, grown });
		}
	} finally {
		await fixture.close();
	}
	return effects;
}

/** @param probe a URL that n8n answers at once if it can */
async function send(url: string, probe: string, body: string, type: string) {
	const began = performance.now();
	const since = () => Math.round(performance.now() - began);
	let silent = 0;
	const over = new AbortController();
	const probing = (async () => {
		while (!over.signal.aborted) {
			const from = since();
			await fetch(probe).catch(() => {});
			silent = Math.max(silent, since() - from);
			await sleep(10);
		}
	})();
	// n8n itself may give up.
	await fetch(url, { method: 'POST', headers: { 'content-type': type }, body }).catch(() => {});
	const answered = since();
	await sleep(SETTLE_MS);
	over.abort();
	await probing;
	return { answered, silent };
}

async function memoryOf(pid = 0): Promise<number> {
	const status = await readFile(`/proc/${String(pid)}/status`, 'utf8');
	return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
}

/** A value of the trigger beside that of the Webhook node, and the ratio. */
function beside(trigger: number, webhook: number, digits = 0): string[] {
	const both = [trigger, webhook].map((value) => value.toFixed(digits)).join(' / ');
	return [both, (trigger / Math.max(0.01, webhook)).toFixed(2)];
}

export const hostile = new Part<HostileBody>('hostile', {
	title: 'Hostile requests',
	about: `Bodies that anyone may send to the URL of a trigger that only listens, and to n8n's own Webhook node, each in a fresh n8n: LeadGen Trigger / Webhook node.
The silence is the longest time in which n8n did not answer \`/healthz\`. The memory is by how much the resident memory of n8n grew at most. Each number is
the median of ${String(ROUNDS)} rounds. The trigger looks up scrapes that a body names, and answers after 8 seconds if it has not found them.`,
	head: ['Body', 'Answered, s', 'Ratio', 'Silence, ms', 'Ratio', 'Memory, MB', 'Ratio'],
	cellsOf: ({ about, trigger, webhook }) => [
		about,
		...beside(trigger.answered / 1000, webhook.answered / 1000, 2),
		...beside(trigger.silent, webhook.silent),
		...beside(trigger.grown, webhook.grown),
	],
	measure: async (say) => {
		const triggers = await measure('trigger', say);
		const webhooks = await measure('webhook', say);
		return BODIES.flatMap(([about], at) => {
			const [trigger, webhook] = [triggers[at], webhooks[at]];
			return trigger && webhook ? [{ about, trigger, webhook }] : [];
		});
	},
});
