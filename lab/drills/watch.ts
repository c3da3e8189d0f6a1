import { setTimeout as sleep } from 'node:timers/promises';
import type { Fixture } from '../fixture/fixture';
import type { Job } from '../sandbox/jobs';

/** From the end of a scrape until its execution is over, if nothing is broken. */
const SETTLES_MS = 8500;
/** A scrape that is saved runs within this time after a restart. */
const RECOVERS_MS = 45_000;
const LATEST_MS = 200_000;

/**
 * Follows each scrape that a trigger starts every ten seconds, and counts what became of them.
 * @param disturb what happens while the trigger does its work
 */
export async function watch(fixture: Fixture, disturb: () => Promise<void>) {
	await fixture.reset({ job: { durationMs: 1500 }, latencyMs: 60 });
	const cronExpression = '*/10 * * * * *';
	const { id } = await fixture.activated({ schedule: 'cron', cronExpression });
	await disturb();
	await sleep(15_000);
	// As a person does with all that n8n shows as failed or crashed. Of some, a power cut left nothing to retry.
	const failed = (await settled(fixture, id)).filter((each) => each.isFailed && each.attempt);
	await Promise.all(failed.map((execution) => fixture.api.retryExecution(execution.id)));
	await sleep(SETTLES_MS);
	const seen = await settled(fixture, id);
	await fixture.api.deactivateWorkflow(id);

	const all = fixture.sandbox.jobs;
	const jobs = finished(fixture);
	const runs = jobs.map((job) => seen.filter(({ ran }) => ran.includes(job.scrapeId)).length);
	const missing = jobs.filter((_, at) => runs[at] === 0).map(attemptOf);
	const tells = seen.flatMap(({ isFailed, isStart, attempt }) =>
		isFailed && isStart ? [attempt] : [],
	);
	const toldByStart = missing.filter((attempt) => tells.includes(attempt)).length;
	return {
		started: all.length,
		finished: jobs.length,
		ranOnce: runs.filter((count) => count === 1).length,
		/** Executions that a person retried, because n8n shows them as failed. */
		retried: failed.length,
		/** It ran no workflow, but a failed execution names its start. */
		toldByStart,
		/** It ran no workflow, and nothing tells it. */
		lost: missing.length - toldByStart,
		/** It ran the workflow to its end more than once. */
		doubled: runs.filter((count) => count > 1).length,
		/** Starts beyond one for each time that was due. */
		paidTwice: all.length - new Set(all.map(attemptOf)).size,
	};
}

/** Waits until each scrape ran, or until only a person can help. @returns the executions */
async function settled(fixture: Fixture, workflowId: string) {
	const began = Date.now();
	for (;;) {
		const seen = await look(fixture, workflowId);
		const ran = seen.flatMap((execution) => execution.ran);
		const missing = finished(fixture).filter(({ scrapeId }) => !ran.includes(scrapeId));
		const tells = seen.flatMap(({ isFailed, attempt }) => (isFailed ? [attempt] : []));
		const isHelpless = missing.every((job) => tells.includes(attemptOf(job)));
		const waitedMs = Date.now() - began;
		const isOver = missing.length === 0 || (isHelpless && waitedMs > RECOVERS_MS);
		if (isOver || waitedMs > LATEST_MS) return seen;
		await sleep(3000);
	}
}

/** What an execution of the trigger is for. */
type Purpose = Partial<Record<'start' | 'completion', { attempt?: string; scrapeId?: string }>>;

/** The executions that are over. */
async function look(fixture: Fixture, workflowId: string) {
	const all = await fixture.executions(workflowId);
	const over = all.filter(({ status }) => ['success', 'error', 'crashed'].includes(status));
	return await Promise.all(
		over.map(async ({ id, status }) => {
			const { nodes = {}, waiting = [] } = (await fixture.finished(id)) ?? {};
			const { start, completion } = (waiting[0]?.json.leadGenTrigger ?? {}) as Purpose;
			const items = nodes['LeadGen Trigger']?.outputs[0] ?? [];
			const isFailed = status !== 'success';
			// At the end n8n saves that an execution succeeded, and then its output. A power cut may come in between.
			const isCut = Object.keys(nodes).length === 0;
			const ids = isCut ? [completion?.scrapeId] : items.map(({ json }) => json.scrapeId);
			/** `ran`: the scrapes for which it ran the workflow to its end. */
			const ran: unknown[] = isFailed ? [] : ids;
			const { attempt } = start ?? completion ?? {};
			return { id, isFailed, attempt, isStart: start !== undefined, ran };
		}),
	);
}

/** The scrapes that finished, and had time to run the workflow. */
function finished({ sandbox }: Fixture): Job[] {
	return sandbox.jobs.filter(({ endsAt }) => endsAt < Date.now() - SETTLES_MS);
}

/** The attempt that started a scrape, by its callback URL. */
function attemptOf({ webhookUrl = '' }: Job): string {
	return new URL(webhookUrl).searchParams.get('leadgen')?.split('.')[0] ?? '';
}
