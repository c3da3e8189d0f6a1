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
		const items = await field.delivered(id);
		const told = (await field.told(id)).length;
		const runs = new Map<unknown, number>();
		for (const { json } of items) runs.set(json.scrapeId, (runs.get(json.scrapeId) ?? 0) + 1);
		// What was started last may not be finished yet, or not be handed over.
		const finished = field.sandbox.jobs.filter(
			({ status, createdAt }) =>
				status === 'completed' && createdAt < end - durationMs - SETTLES_MS,
		);
		// One start at the activation, and one each time that it is due.
		const due = 1 + Math.ceil((end - began) / EVERY_MS);
		const missing = finished.filter(({ scrapeId }) => !runs.has(scrapeId));
		this.starts += field.starts;
		this.unasked += Math.max(0, field.starts - due);
		this.finished += finished.length;
		this.ran += finished.length - missing.length;
		this.doubled += [...runs.values()].filter((times) => times > 1).length;
		// Of a start that was interrupted nobody knows the ID; the person is told instead.
		this.lost += Math.max(0, missing.length - told);
		this.told += told;
	}

	outcome(drill: string, promise: string): Outcome {
		const { starts, unasked, finished, ran, told, lost, doubled } = this;
		return {
			drill,
			promise,
			happened: `${String(starts)} scrapes started, ${String(unasked)} of them unasked; ${String(finished)} finished, ${String(ran)} ran the workflow; ${String(told)} starts that were interrupted were reported to the person.`,
			lost,
			doubled,
			paidTwice: unasked,
		};
	}
}
