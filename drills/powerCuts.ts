import { setTimeout as sleep } from 'node:timers/promises';
import type { StoredWorkflow } from '../playground/api';
import type { Field } from '../test/e2e/field';
import type { Outcome } from './drills';

/** n8n lists no more than a hundred executions at once, so each workflow lives for some rounds only. */
const ROUNDS_PER_WORKFLOW = 10;
const EVERY_MS = 10_000;
const SETTLES_MS = 8000;

/**
 * Kills n8n with SIGKILL at random moments, while a trigger starts a scrape every ten seconds and receives
 * the completions.
 */
export async function powerCuts(
	field: Field,
	rounds: number,
	random: () => number,
): Promise<Outcome> {
	const totals = { starts: 0, unasked: 0, finished: 0, ran: 0, doubled: 0, lost: 0, told: 0 };
	for (let round = 0; round < rounds; round += ROUNDS_PER_WORKFLOW) {
		await field.reset({ job: { durationMs: 1500 }, latencyMs: 60 });
		const began = Date.now();
		const workflow = await field.workflow({
			schedule: 'cron',
			cronExpression: `*/${String(EVERY_MS / 1000)} * * * * *`,
		});
		await field.api.activateWorkflow(workflow.id);
		for (let cut = round; cut < Math.min(rounds, round + ROUNDS_PER_WORKFLOW); cut++) {
			await sleep(500 + random() * 6000);
			await field.kill();
			await sleep(random() * 2000);
			await field.start();
			console.log(`power cut ${String(cut + 1)} of ${String(rounds)}`);
		}
		await sleep(15_000);
		await field.api.deactivateWorkflow(workflow.id);
		const end = Date.now();
		await count(field, workflow, [began, end], totals);
	}
	const { starts, unasked, finished, ran, doubled, lost, told } = totals;
	return {
		drill: `${String(rounds)} power cuts of n8n (SIGKILL) while a trigger starts and receives scrapes`,
		promise:
			'No completion is lost, no start is sent twice. A completion may come in twice if the cut falls between its run and writing it down.',
		happened: `${String(starts)} scrapes started, ${String(unasked)} of them unasked; ${String(finished)} finished, ${String(ran)} ran the workflow; ${String(told)} starts that a cut interrupted were reported to the person.`,
		lost,
		doubled,
		paidTwice: unasked,
	};
}

async function count(
	field: Field,
	workflow: StoredWorkflow,
	[began, end]: [number, number],
	totals: Record<'starts' | 'unasked' | 'finished' | 'ran' | 'doubled' | 'lost' | 'told', number>,
): Promise<void> {
	const items = await field.delivered(workflow.id);
	const told = (await field.told(workflow.id)).length;
	const runs = new Map<unknown, number>();
	for (const { json } of items) runs.set(json.scrapeId, (runs.get(json.scrapeId) ?? 0) + 1);
	// What was started last may not be finished yet, or not be handed over.
	const settled = end - SETTLES_MS;
	const finished = field.sandbox.jobs.filter(
		({ status, createdAt }) => status === 'completed' && createdAt < settled,
	);
	// One start at the activation, and one each time that it is due.
	const due = 1 + Math.ceil((end - began) / EVERY_MS);
	const missing = finished.filter(({ scrapeId }) => !runs.has(scrapeId));
	totals.starts += field.starts;
	totals.unasked += Math.max(0, field.starts - due);
	totals.finished += finished.length;
	totals.ran += finished.length - missing.length;
	totals.doubled += [...runs.values()].filter((times) => times > 1).length;
	// Of a start that a cut interrupted nobody knows the ID; the person is told instead.
	totals.lost += Math.max(0, missing.length - told);
	totals.told += told;
}
