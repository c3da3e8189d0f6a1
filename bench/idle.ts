import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkflowNode } from '../playground/api';
import { Field, node } from '../test/e2e/field';
import { KeptResults } from './kept';
import { watchProcess } from './processUse';

/** Triggers of a kind that have nothing to do, and what n8n takes with them. */
interface IdleUse {
	about: string;
	workflows: number;
	/** Part of one core, 1 being all of it; with all of n8n in it. */
	early: number;
	later: number;
	/** Requests to the service in the later time. */
	requests: number;
}

interface Kind {
	about: string;
	/** One for each workflow. */
	triggers: (field: Field) => WorkflowNode[];
}

const EACH = 100;
const SETTLE_MS = 30_000;
const MEASURED_MS = 60_000;
/** A scrape is asked for less and less often, so what it takes later is measured as well. */
const LATER_MS = 120_000;

const many = (make: () => WorkflowNode) => Array.from({ length: EACH }, make);
const listening = (field: Field) => field.trigger({ mode: 'listen' });
const waiting = (field: Field) => field.trigger();

/** Serves a feed with one entry. */
async function startFeed(): Promise<{ url: string; stop: () => void }> {
	const entry = '<item><title>One</title><link>http://127.0.0.1/1</link></item>';
	const feed = `<rss version="2.0"><channel><title>Feed</title>${entry}</channel></rss>`;
	const server = createServer((_, response) => {
		response.setHeader('content-type', 'application/rss+xml').end(feed);
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const { port } = server.address() as AddressInfo;
	return { url: `http://127.0.0.1:${String(port)}/`, stop: () => server.close() };
}

/** Measures n8n with each kind of trigger, every time in a fresh n8n. Takes 20 minutes. */
async function measureIdle(say: (line: string) => void): Promise<IdleUse[]> {
	const feed = await startFeed();
	const kinds: Kind[] = [
		{ about: 'no workflow', triggers: () => [] },
		{
			about: 'LeadGen Trigger, listening and waiting for a scrape',
			triggers: (field) => [...many(() => listening(field)), ...many(() => waiting(field))],
		},
		{
			about: 'Schedule Trigger, once a day',
			triggers: () => many(() => node('Schedule', 'n8n-nodes-base.scheduleTrigger')),
		},
		{
			about: 'RSS Feed Trigger, polling once a minute',
			triggers: () =>
				many(() =>
					node('RSS', 'n8n-nodes-base.rssFeedReadTrigger', { parameters: { feedUrl: feed.url } }),
				),
		},
	];
	const uses: IdleUse[] = [];
	try {
		for (const kind of kinds) {
			const use = await measureKind(kind);
			uses.push(use);
			say(`  ${use.about}: ${percent(use.early)}, later ${percent(use.later)} of a core`);
		}
	} finally {
		feed.stop();
	}
	return uses;
}

async function measureKind({ about, triggers }: Kind): Promise<IdleUse> {
	const field = new Field();
	await field.open();
	try {
		await field.reset({ job: { durationMs: 86_400_000 } });
		const nodes = triggers(field);
		for (const trigger of nodes) {
			const end = node('End', 'n8n-nodes-base.noOp');
			const { id } = await field.api.createWorkflow(field.content(trigger, end));
			await field.api.activateWorkflow(id);
		}
		await sleep(SETTLE_MS);
		const early = await share(field);
		await sleep(LATER_MS);
		const before = field.sandbox.requests.length;
		const later = await share(field);
		const requests = field.sandbox.requests.length - before;
		return { about, workflows: nodes.length, early, later, requests };
	} finally {
		await field.close();
	}
}

async function share(field: Field): Promise<number> {
	const end = await watchProcess(field.pid);
	await sleep(MEASURED_MS);
	return ((await end())?.cpuMs ?? NaN) / MEASURED_MS;
}

function percent(part: number): string {
	return `${(100 * part).toFixed(1)} %`;
}

export const IDLE_TITLE = '## Triggers with nothing to do';
const kept = new KeptResults<IdleUse[]>('idle');

export async function renewIdle(): Promise<void> {
	await kept.renew(() => measureIdle(console.log));
}

/** The part of docs/benchmark.md about triggers with nothing to do. */
export function idleReport(): string {
	const minutes = (ms: number) => String(ms / 60_000);
	const head = ['Triggers', 'Workflows', 'First', 'Later', 'Requests to the service, later'];
	const rowOf = ({ about, workflows, early, later, requests }: IdleUse) => [
		about,
		String(workflows),
		percent(early),
		percent(later),
		String(requests),
	];
	return `${IDLE_TITLE}

The processor time of all of n8n, as a share of one core, over ${String(MEASURED_MS / 1000)} seconds: first from ${String(SETTLE_MS / 1000)} seconds after the last
activation, then ${minutes(LATER_MS)} minutes later. Each kind of trigger runs in a fresh n8n, in active workflows of its own. The polling
node and the Schedule Trigger have n8n's default settings.

${kept.tables(head, (uses) => uses.map(rowOf))}
`;
}
