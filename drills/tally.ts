import { setTimeout as sleep } from 'node:timers/promises';
import type { Job } from '../sandbox/jobs';
import type { Field } from '../test/e2e/field';

const EVERY_MS = 10_000;
const SETTLES_MS = 6500;
/** A delivery in vain is repeated after 20 and 60 seconds, and after three minutes. */
const LATEST_MS = 200_000;

/** What a drill promised, and what came of it. */
export interface Outcome {
	drill: string;
	promise: string;
	happened: string;
	lost: number;
	doubled: number;
	/** Calls that were paid for twice without a person asking twice. */
	paidTwice: number;
}

/** What became of a scrape that finished. */
type Fate =
	'ran once' | 'ran once, after Retry' | 'reported as an unknown start' | 'ran twice' | 'lost';

/** Follows each scrape that a trigger starts every ten seconds. */
export class Tally {
	private starts = 0;
	private unasked = 0;
	/** How often one start was sent again. */
	private repeated = 0;
	private readonly fates: Array<{ scrapeId: string; fate: Fate }> = [];

	/** @param disturb what happens while the trigger does its work */
	async while(field: Field, disturb: () => Promise<void>, durationMs = 1500): Promise<void> {
		await field.reset({ job: { durationMs }, latencyMs: 60 });
		const began = Date.now();
		const { id } = await field.workflow({
			schedule: 'cron',
			cronExpression: `*/${String(EVERY_MS / 1000)} * * * * *`,
		});
		await field.api.activateWorkflow(id);
		await disturb();
		await sleep(15_000);
		const latest = Date.now() + LATEST_MS;
		const isMissing = async () =>
			Date.now() < latest && (await missing(field, id, durationMs)).length > 0;
		const isCrashed = async () =>
			(await field.executions(id)).some(({ status }) => status === 'crashed');
		while ((await isMissing()) && !(await isCrashed())) await sleep(5000);
		if (await isMissing()) await retryCrashed(field, id);
		// What n8n had not begun is delivered again.
		while (await isMissing()) await sleep(5000);
		await field.api.deactivateWorkflow(id);
		const end = Date.now();
		const runs = await runsOf(field, id);
		const reported = await reportedStarts(field, id);
		for (const job of finishedBefore(field, end, durationMs)) {
			const { scrapeId } = job;
			const fate = fateOf(runs.get(scrapeId) ?? [], reported.includes(attemptOf(job)));
			this.fates.push({ scrapeId, fate });
		}
		this.starts += field.starts;
		// One start at the activation, and one each time that it is due.
		this.unasked += Math.max(0, field.starts - 1 - Math.ceil((end - began) / EVERY_MS));
		const attempts = field.sandbox.jobs.map(attemptOf);
		this.repeated += attempts.length - new Set(attempts).size;
	}

	outcome(drill: string, promise: string): Outcome {
		const { starts, unasked, repeated, fates } = this;
		const counts = new Map<Fate, number>();
		for (const { fate } of fates) counts.set(fate, (counts.get(fate) ?? 0) + 1);
		const count = (fate: Fate) => counts.get(fate) ?? 0;
		const all = [...counts].map(([fate, times]) => `${String(times)} ${fate}`).join(', ');
		const others = fates.filter(({ fate }) => fate !== 'ran once');
		const each = others.map(({ scrapeId, fate }) => `${scrapeId} ${fate}`).join('; ');
		return {
			drill,
			promise,
			happened: `${String(starts)} scrapes started, ${String(unasked)} of them not requested; ${String(fates.length)} finished: ${all}${each && ` (${each})`}.`,
			lost: count('lost'),
			doubled: count('ran twice'),
			paidTwice: unasked + repeated,
		};
	}
}

/** The scrapes that are finished and may be delivered; what was started last may not be. */
function finishedBefore({ sandbox }: Field, time: number, durationMs: number): Job[] {
	return sandbox.jobs.filter(
		({ status, createdAt }) => status === 'completed' && createdAt < time - durationMs - SETTLES_MS,
	);
}

/** The finished scrapes that did not run the workflow so far. */
async function missing(field: Field, id: string, durationMs: number): Promise<Job[]> {
	const runs = await runsOf(field, id);
	return finishedBefore(field, Date.now(), durationMs).filter(
		({ scrapeId }) => !runs.has(scrapeId),
	);
}

/**
 * @param modes of the executions that the scrape ran
 * @param isReported whether a failed execution says of its own start that its outcome is not known
 */
function fateOf(modes: string[], isReported: boolean): Fate {
	if (modes.length > 1) return 'ran twice';
	if (modes.length === 0) return isReported ? 'reported as an unknown start' : 'lost';
	return modes[0] === 'retry' ? 'ran once, after Retry' : 'ran once';
}

/** Which start attempt a scrape is from, by its callback URL. */
function attemptOf({ webhookUrl = '' }: Pick<Job, 'webhookUrl'>): string {
	return new URL(webhookUrl).searchParams.get('attempt') ?? '';
}

/** The start attempts whose outcome the person was told to be unknown. */
async function reportedStarts(field: Field, workflowId: string): Promise<string[]> {
	const advice = await field.advice(workflowId);
	return advice.flatMap((text) => /start attempt (\S+)\./.exec(text)?.[1] ?? []);
}

/** As a person does with what n8n shows as crashed. */
async function retryCrashed(field: Field, workflowId: string): Promise<void> {
	for (const execution of await field.executions(workflowId)) {
		// Of some a power cut left only the number, and n8n refuses to retry these.
		if (execution.status === 'crashed' && (await field.finished(execution.id)))
			await field.api.retryExecution(execution.id);
	}
}

/** The modes of the executions that each scrape ran to their end. */
async function runsOf(field: Field, workflowId: string): Promise<Map<unknown, string[]>> {
	const runs = new Map<unknown, string[]>();
	for (const { id, mode } of await field.executions(workflowId)) {
		const { status, nodes, waiting = [] } = (await field.finished(id)) ?? {};
		// At the end n8n writes that an execution succeeded, and then what came out. A power cut may come in between.
		const isCut = status === 'success' && Object.keys(nodes ?? {}).length === 0;
		const items = isCut ? waiting : (nodes?.['LeadGen Trigger']?.outputs[0] ?? []);
		for (const { json } of items) {
			// n8n fills in an item of its own where it knows of a cut run that a node was through.
			if (json.scrapeId === undefined) continue;
			runs.set(json.scrapeId, [...(runs.get(json.scrapeId) ?? []), mode]);
		}
	}
	return runs;
}
