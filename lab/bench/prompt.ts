import { Fixture, until } from '../fixture/fixture';
import { QueueFixture } from '../fixture/queueFixture';
import type { Row } from '../table';

const SCRAPES = 20;
const EVERY_S = 10;
/** Before the node looks at the status for the first time. */
const DURATION_MS = 4000;

/** How long it takes from the notification of a scrape to the start of its execution. */
export async function prompt(): Promise<Row[]> {
	return [
		...(await measure('One process', new Fixture())),
		...(await measure('Queue mode: a webhook process, two workers', new QueueFixture())),
	];
}

async function measure(where: string, fixture: Fixture): Promise<Row[]> {
	try {
		await fixture.open();
		const rows: Row[] = [];
		for (const [which, begin] of [
			['the trigger starts the scrapes', startScrapes],
			['the trigger only listens', listen],
		] as const) {
			await fixture.reset({ job: { durationMs: DURATION_MS } });
			const times = await timesOf(fixture, await begin(fixture));
			const seconds = times.sort((a, b) => a - b).map((ms) => (ms / 1000).toFixed(2));
			rows.push({
				Trigger: `${where}, ${which}`,
				'Median, s': seconds[SCRAPES / 2] ?? '',
				'Longest, s': seconds.at(-1) ?? '',
			});
		}
		return rows;
	} finally {
		await fixture.close();
	}
}

/** @returns the ID of the workflow */
async function startScrapes(fixture: Fixture): Promise<string> {
	const cronExpression = `*/${String(EVERY_S)} * * * * *`;
	return (await fixture.activated({ schedule: 'cron', cronExpression })).id;
}

async function listen(fixture: Fixture): Promise<string> {
	const workflow = await fixture.listening();
	const url = fixture.plainUrl(workflow);
	for (let count = 0; count < SCRAPES; count++) {
		const scrapeId = await fixture.startElsewhere(url);
		await until('its notification', () => notifiedAt(fixture, scrapeId) !== undefined);
	}
	return workflow.id;
}

/** Waits until so many scrapes ran the workflow. */
async function timesOf(fixture: Fixture, workflowId: string): Promise<number[]> {
	const enough = async () => (await fixture.delivered(workflowId)).length >= SCRAPES;
	await until('the runs', enough, 2 * SCRAPES * EVERY_S * 1000);
	// Not when the next start is due, as that takes five seconds more.
	await fixture.api.deactivateWorkflow(workflowId);
	const times: number[] = [];
	for (const { id, startedAt } of await fixture.executions(workflowId)) {
		const execution = await fixture.finished(id);
		// An execution that starts a scrape has no output.
		const [item] = execution?.nodes['LeadGen Trigger']?.outputs[0] ?? [];
		const notified = notifiedAt(fixture, item?.json.scrapeId);
		if (notified !== undefined) times.push(Date.parse(startedAt) - notified);
	}
	return times;
}

/** When the service sent the first notification of a scrape. */
function notifiedAt({ sandbox }: Fixture, id: unknown): number | undefined {
	return sandbox.jobs.find(({ scrapeId }) => scrapeId === id)?.notifications[0]?.at;
}
