import { createServer, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkflowNode } from '../playground/api';
import { freePort } from '../playground/n8n';
import { Fixture, node } from '../fixture/fixture';
import { Part } from './part';
import { watchProcess } from './processUse';

/** What n8n takes with triggers of a kind that wait. */
interface IdleUse {
	about: string;
	/** Part of one core, 1 being all of it; with all of n8n in it. */
	early: number;
	later: number;
	/** In both times together: requests to production URLs, and to the service. */
	ownCalls: number;
	requests: number;
}

const EACH = 20;
const SETTLE_MS = 30_000;
const MEASURED_MS = 60_000;

const many = (make: () => WorkflowNode) => Array.from({ length: EACH }, make);
const KINDS: Array<[about: string, triggers: (fixture: Fixture) => WorkflowNode[]]> = [
	['no workflow', () => []],
	['20 LeadGen Triggers that listen', (fixture) => many(() => fixture.trigger({ mode: 'listen' }))],
	['20 LeadGen Triggers, each with a running scrape', (fixture) => many(() => fixture.trigger())],
];

/** Measures each kind in a fresh n8n, whose production URLs lead to a server that counts the requests. */
async function measureKind([about, triggers]: (typeof KINDS)[number]): Promise<IdleUse> {
	const port = await freePort();
	const fixture = new Fixture({ WEBHOOK_URL: `http://127.0.0.1:${String(port)}/` });
	let calls = 0;
	const server = createServer((incoming, outgoing) => {
		calls++;
		const { method, headers } = incoming;
		const options = { method, headers, agent: false } as const;
		const passedOn = request(fixture.url + (incoming.url ?? ''), options, (answer) => {
			outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
			answer.pipe(outgoing);
		});
		incoming.pipe(passedOn.on('error', () => outgoing.destroy()));
	}).listen(port, '127.0.0.1');
	try {
		await fixture.open();
		await fixture.reset({ job: { durationMs: 86_400_000 } });
		for (const trigger of triggers(fixture)) {
			await fixture.activate(trigger, node('End', 'n8n-nodes-base.noOp'));
		}
		await sleep(SETTLE_MS);
		const before = { calls, requests: fixture.sandbox.requests.length };
		const early = await share(fixture);
		const later = await share(fixture);
		const requests = fixture.sandbox.requests.length - before.requests;
		return { about, early, later, ownCalls: calls - before.calls, requests };
	} finally {
		await fixture.close();
		server.close();
	}
}

async function share(fixture: Fixture): Promise<number> {
	const end = await watchProcess(fixture.pid);
	await sleep(MEASURED_MS);
	return ((await end())?.cpuMs ?? NaN) / MEASURED_MS;
}

const percent = (part: number) => `${(100 * part).toFixed(1)} %`;

export const idle = new Part<IdleUse>({
	title: 'Triggers that wait',
	about: `The processor time of all of n8n, as a share of one core, in two minutes from ${String(SETTLE_MS / 1000)} seconds after the last
activation. Own calls are requests of the nodes to their production URLs in both minutes; status requests are those to the service. Each kind of
trigger runs in a fresh n8n, each trigger in a workflow of its own.`,
	head: ['Triggers', 'First minute', 'Second minute', 'Own calls', 'Status requests'],
	cellsOf: ({ about, early, later, ownCalls, requests }) => [
		about,
		percent(early),
		percent(later),
		String(ownCalls),
		String(requests),
	],
	measure: async (say) => {
		const uses: IdleUse[] = [];
		for (const kind of KINDS) {
			uses.push(await measureKind(kind));
			say(`  ${JSON.stringify(uses.at(-1))}`);
		}
		return uses;
	},
});
