import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkflowNode } from '../playground/api';
import { Fixture, node } from '../fixture/fixture';
import { Part } from './part';
import { watchProcess } from './processUse';

/** What n8n takes with triggers of a kind that wait. */
interface IdleUse {
	about: string;
	/** Part of one core, 1 being all of it; with all of n8n in it. */
	early: number;
	later: number;
	/** To the service, in both times together. */
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

/** Measures each kind in a fresh n8n. */
async function measureKind([about, triggers]: (typeof KINDS)[number]): Promise<IdleUse> {
	const fixture = new Fixture();
	try {
		await fixture.open();
		await fixture.reset({ job: { durationMs: 86_400_000 } });
		for (const trigger of triggers(fixture)) {
			await fixture.activate(trigger, node('End', 'n8n-nodes-base.noOp'));
		}
		await sleep(SETTLE_MS);
		const before = fixture.sandbox.requests.length;
		const early = await share(fixture);
		const later = await share(fixture);
		return { about, early, later, requests: fixture.sandbox.requests.length - before };
	} finally {
		await fixture.close();
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
activation. Status requests are those to the service in both minutes. Each kind of trigger runs in a fresh n8n, each trigger in a workflow of its own.`,
	head: ['Triggers', 'First minute', 'Second minute', 'Status requests'],
	cellsOf: ({ about, early, later, requests }) => [
		about,
		percent(early),
		percent(later),
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
