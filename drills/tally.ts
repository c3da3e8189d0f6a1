import { setTimeout as sleep } from 'node:timers/promises';
import type { Field } from '../test/e2e/field';
import type { Outcome } from './drills';

const EVERY_MS = 10_000;
const SETTLES_MS = 6500;

/** Counts what becomes of the scrapes that a trigger starts every ten seconds. */
export class Tally {
	private starts = 0;
	private unasked = 0;
	private finished = 0;
	private ran = 0;
	private doubled = 0;
	private lost = 0;
	private told = 0;
	private cutShort = 0;

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
		await field.api.deactivateWorkflow(id);
		const end = Date.now();
		// What was started last may not be finished yet, or not be handed over.
		const finished = field.sandbox.jobs.filter(
			({ status, createdAt }) =>
				status === 'completed' && createdAt < end - durationMs - SETTLES_MS,
		);
		// One start at the activation, and one each time that it is due.
		const due = 1 + Math.ceil((end - began) / EVERY_MS);
		const isMissing = (runs: Map<unknown, number>) =>
			finished.filter(({ scrapeId }) => !runs.has(scrapeId));
		if (isMissing(await runsOf(field, id)).length > 0) await this.retry(field, id);
		const runs = await runsOf(field, id);
		const missing = isMissing(runs);
		const told = (await field.told(id)).filter((text) => text.includes('not known whether')).length;
		this.starts += field.starts;
		this.unasked += Math.max(0, field.starts - due);
		this.finished += finished.length;
		this.ran += finished.length - missing.length;
		this.doubled += [...runs.values()].filter((times) => times > 1).length;
		// Of a start that was interrupted nobody knows the ID; the person is told instead.
		this.lost += Math.max(0, missing.length - told);
		this.told += told;
	}

	/** As a person does with what n8n shows as crashed. */
	private async retry(field: Field, id: string): Promise<void> {
		for (const execution of await field.executions(id)) {
			if (execution.status !== 'crashed') continue;
			await field.api.retryExecution(execution.id);
			this.cutShort++;
		}
	}

	outcome(drill: string, promise: string): Outcome {
		const { starts, unasked, finished, ran, cutShort, told, lost, doubled } = this;
		const retried =
			cutShort > 0
				? ` (${String(cutShort)} of them when the run that the cut had caught was retried)`
				: '';
		return {
			drill,
			promise,
			happened: `${String(starts)} scrapes started, ${String(unasked)} of them unasked; ${String(finished)} finished, ${String(ran)} ran the workflow${retried}; ${String(told)} starts that were interrupted were reported to the person.`,
			lost,
			doubled,
			paidTwice: unasked,
		};
	}
}

/** How often each scrape ran the workflow to its end. */
async function runsOf(field: Field, id: string): Promise<Map<unknown, number>> {
	const runs = new Map<unknown, number>();
	for (const { json } of await field.delivered(id)) {
		// n8n fills in an item of its own where it knows of a cut run that a node was through.
		if (json.scrapeId === undefined) continue;
		runs.set(json.scrapeId, (runs.get(json.scrapeId) ?? 0) + 1);
	}
	return runs;
}
