import { setTimeout as sleep } from 'node:timers/promises';
import type { Job } from '../sandbox/jobs';
import type { Fixture } from '../fixture/fixture';

const EVERY_S = 10;
const SETTLES_MS = 6500;
/** A scrape that is saved runs within this time after a restart. */
const RECOVERS_MS = 45_000;
const LATEST_MS = 200_000;
/** After a power cut this soon after the answer to a start, the ID of the scrape may not be saved. */
const UNSAVED_MS = 1000;

/** What a drill promised, and what happened. */
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
type Fate = 'ran once' | 'ran once, after Retry' | 'ran again' | 'told by its start' | 'lost';

interface Told {
	fate: Fate;
	about: string;
	isExcused: boolean;
}

/** An execution that is over. */
interface Seen {
	id: string;
	status: string;
	mode: string;
	isStart: boolean;
	attempts: unknown[];
	/** The IDs of the scrapes for which it ran the workflow to its end. */
	ran: unknown[];
}

/** What an execution of the trigger is for. */
interface Purpose {
	start?: { attempt: string };
	completion?: { attempt?: string; scrapeId?: string };
}

/** Follows each scrape that a trigger starts every ten seconds. */
export class Tally {
	/** When the power was cut. */
	readonly cuts: number[] = [];
	private starts = 0;
	private paidTwice = 0;
	private retried = 0;
	private unfinished = 0;
	private polled = 0;
	private readonly fates: Told[] = [];
	private seen = new Map<string, Seen>();

	/** @param disturb what happens while the trigger does its work */
	async while(fixture: Fixture, disturb: () => Promise<void>, durationMs = 1500): Promise<void> {
		await fixture.reset({ job: { durationMs }, latencyMs: 60 });
		this.seen = new Map();
		const cronExpression = `*/${String(EVERY_S)} * * * * *`;
		const { id } = await fixture.activated({ schedule: 'cron', cronExpression });
		await disturb();
		await sleep(15_000);
		await this.settle(fixture, id);
		await this.retryAll(fixture, id);
		await sleep(SETTLES_MS);
		await this.settle(fixture, id);
		const jobs = finished(fixture);
		// A scrape that ran stays saved as done.
		const saved = JSON.stringify((await fixture.api.workflow(id)).staticData ?? '');
		const isRunning = ({ scrapeId }: Job) =>
			new RegExp(`${scrapeId}[^}]*isDone[\\\\":]+false`).test(saved);
		this.polled += jobs.filter(isRunning).length;
		await fixture.api.deactivateWorkflow(id);
		await this.look(fixture, id);
		for (const job of jobs) this.fates.push(this.fateOf(job, fixture));
		this.starts += fixture.sandbox.jobs.length;
		// One start at the activation, and one each time that it is due.
		this.paidTwice += fixture.sandbox.jobs.length - new Set(fixture.sandbox.jobs.map(dueAt)).size;
		const all = await fixture.executions(id);
		this.unfinished += all.filter((execution) => !this.seen.has(execution.id)).length;
	}

	outcome(drill: string, promise: string): Outcome {
		const { fates } = this;
		const counts = new Map<Fate, number>();
		for (const { fate } of fates) counts.set(fate, (counts.get(fate) ?? 0) + 1);
		const all = [...counts].map(([fate, times]) => `${String(times)} ${fate}`).join(', ');
		const each = fates.flatMap(({ fate, about }) => (fate === 'ran once' ? [] : [about]));
		const left = Object.entries({
			'executions never ended': this.unfinished,
			'finished scrapes are polled on': this.polled,
		}).flatMap(([what, count]) => (count > 0 ? [` ${String(count)} ${what}.`] : []));
		return {
			drill,
			promise,
			happened: `${String(this.starts)} scrapes started, ${String(fates.length)} finished: ${all}; ${String(this.retried)} executions retried.${[...each.map((about) => ` ${about}.`), ...left].join('')}`,
			lost: fates.filter(({ isExcused }) => !isExcused).length,
			doubled: fates.filter(({ fate }) => fate === 'ran again').length,
			paidTwice: this.paidTwice,
		};
	}

	/** Waits until each scrape ran, or until only a person can help. */
	private async settle(fixture: Fixture, id: string): Promise<void> {
		const began = Date.now();
		while (Date.now() < began + LATEST_MS) {
			await this.look(fixture, id);
			const missing = finished(fixture).filter(
				({ scrapeId }) => this.runsOf(scrapeId).length === 0,
			);
			const isHelpless = missing.every((job) => this.failed.some(isOf(job)));
			if (missing.length === 0 || (isHelpless && Date.now() > began + RECOVERS_MS)) return;
			await sleep(3000);
		}
	}

	/** As a person does with all that n8n shows as failed or crashed, at once. */
	private async retryAll(fixture: Fixture, id: string): Promise<void> {
		await this.look(fixture, id);
		// Of some a power cut left only the number, and n8n refuses to retry these.
		const all = this.failed.filter(({ attempts }) => attempts.length > 0);
		this.retried += all.length;
		await Promise.all(all.map((execution) => fixture.api.retryExecution(execution.id)));
	}

	private get failed(): Seen[] {
		return [...this.seen.values()].filter(({ status }) => status !== 'success');
	}

	private runsOf(scrapeId: string): Seen[] {
		return [...this.seen.values()].filter(({ ran }) => ran.includes(scrapeId));
	}

	private async look(fixture: Fixture, workflowId: string): Promise<void> {
		for (const { id, mode, status } of await fixture.executions(workflowId)) {
			if (this.seen.has(id) || !['success', 'error', 'crashed'].includes(status)) continue;
			const { nodes = {}, waiting = [] } = (await fixture.finished(id)) ?? {};
			const { start, completion } = (waiting[0]?.json.leadGenTrigger ?? {}) as Purpose;
			const items = nodes['LeadGen Trigger']?.outputs[0] ?? [];
			// At the end n8n saves that an execution succeeded, and then its output. A power cut may come in between.
			const isCut = status === 'success' && Object.keys(nodes).length === 0;
			const ran = isCut ? [completion?.scrapeId] : items.map(({ json }) => json.scrapeId);
			const { attempt } = start ?? completion ?? {};
			this.seen.set(id, {
				id,
				status,
				mode,
				isStart: start !== undefined,
				attempts: attempt === undefined ? [] : [attempt],
				ran: status === 'success' ? ran : [],
			});
		}
	}

	private fateOf(job: Job, { sandbox }: Fixture): Told {
		const { scrapeId, webhookUrl, createdAt, notifications } = job;
		const runs = this.runsOf(scrapeId);
		const isTold = this.failed.some((execution) => execution.isStart && isOf(job)(execution));
		const [run] = runs;
		const once = run?.mode === 'retry' ? 'ran once, after Retry' : 'ran once';
		const none = isTold ? 'told by its start' : 'lost';
		const fate = runs.length > 1 ? 'ran again' : run ? once : none;
		const isIts = (body: unknown) =>
			(body as { webhookUrl?: string } | undefined)?.webhookUrl === webhookUrl;
		const { answeredAt = createdAt } = sandbox.requests.find(({ body }) => isIts(body)) ?? {};
		const cut = this.cuts.find((at) => at >= createdAt);
		const afterMs = cut === undefined ? undefined : cut - answeredAt;
		const isTaken = notifications.some(({ status }) => status === 200);
		const mayBeUnsaved = afterMs === undefined || (!isTaken && afterMs < UNSAVED_MS);
		const about = `${scrapeId} (${attemptOf(job)}) ${fate}: power cut ${String(afterMs ?? 'none')} ms after the answer to its start, notification ${isTaken ? 'taken' : 'not taken'}`;
		return { fate, about, isExcused: run !== undefined || (isTold && mayBeUnsaved) };
	}
}

/** The scrapes that finished, and had time to run the workflow. */
function finished({ sandbox }: Fixture): Job[] {
	return sandbox.jobs.filter(({ endsAt }) => endsAt < Date.now() - SETTLES_MS);
}

function isOf(job: Job): (execution: Seen) => boolean {
	return ({ attempts }) => attempts.includes(attemptOf(job));
}

/** The attempt that started a scrape, by its callback URL. */
function attemptOf({ webhookUrl = '' }: Job): string {
	return new URL(webhookUrl).searchParams.get('leadgen')?.split('.')[0] ?? '';
}

/** What asked for a scrape: the activation, or a time that was due. */
function dueAt(job: Job): string {
	const attempt = attemptOf(job);
	return attempt.startsWith('a') ? 'activation' : attempt;
}
