import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { notificationRequest, type ScrapeStatus } from './notification';
import type { JobSettings, Settings } from './settings';

export interface ScrapeFilters {
	jobTitles?: string[];
	locations?: string[];
	industries?: string[];
	companySize?: string;
	limit?: number;
}

/** One try to deliver a notification. */
export interface Sending {
	/** HTTP status that the receiver answered; absent while it has not. */
	status?: number;
}

export interface Job {
	scrapeId: string;
	/** API key of the account that started it. */
	account: string;
	filters: ScrapeFilters;
	limit: number;
	webhookUrl?: string;
	estimatedCredits: number;
	/** Epoch ms. */
	createdAt: number;
	/** Epoch ms, possibly still to come. */
	endsAt: number;
	outcome: JobSettings['outcome'];
	/** Notifications sent, oldest first. */
	notifications: Sending[];
}

/** A receiver that has not answered by then is given up; an n8n on a busy machine is slow. */
const RECEIVER_TIMEOUT_MS = 60_000;

/** The scrape jobs: their life from pending to the end, and the notification of it. */
export class Jobs {
	private readonly jobs = new Map<string, Job>();
	/** Those whose notification is sent, or will not be sent later. */
	private readonly announced = new Set<Job>();
	private readonly stopped = new AbortController();

	constructor(private readonly settings: () => Settings) {}

	start(
		given: Pick<Job, 'account' | 'filters' | 'limit' | 'webhookUrl' | 'estimatedCredits'>,
	): Job {
		const { durationMs, outcome, scrapeIdStyle } = this.settings().job;
		const [scrapeId, createdAt] = [newId(scrapeIdStyle), Date.now()];
		const endsAt = createdAt + durationMs;
		const job = { ...given, scrapeId, createdAt, endsAt, outcome, notifications: [] };
		this.jobs.set(scrapeId, job);
		void this.sleep(durationMs).then(() => this.announce(job));
		return job;
	}

	find(scrapeId: string): Job | undefined {
		return this.jobs.get(scrapeId);
	}

	/** Every job with its status. */
	list() {
		return [...this.jobs.values()].map((job) => ({ ...statusAt(job), ...job }));
	}

	/** Ends a job now, its notification included, unless that was sent already. */
	finish(scrapeId: string, outcome: Job['outcome']): void {
		const job = this.get(scrapeId);
		job.endsAt = Math.min(job.endsAt, Date.now());
		job.outcome = outcome;
		void this.announce(job);
	}

	/** Sends the notification of a job now, as if it had ended, whatever the settings say of when. */
	async notify(scrapeId: string): Promise<Sending> {
		return await this.send(this.get(scrapeId));
	}

	/** Stops everything that is in flight. */
	stop(): void {
		this.stopped.abort();
	}

	/** Never ends if everything was stopped meanwhile. */
	private async sleep(ms: number): Promise<void> {
		await pause(ms);
		if (this.stopped.signal.aborted) await new Promise(() => {});
	}

	private get(scrapeId: string): Job {
		const job = this.jobs.get(scrapeId);
		if (job === undefined) throw new Error(`There is no job ${scrapeId}`);
		return job;
	}

	/** Sends the notification as the settings ask for, once for each job. */
	private async announce(job: Job): Promise<void> {
		if (job.webhookUrl === undefined || this.announced.has(job)) return;
		this.announced.add(job);
		const { times, retryMs } = this.settings().notification;
		const deliver = async () => {
			for (;;) {
				const { status = 0 } = await this.send(job);
				if (retryMs === null || (status >= 200 && status < 300)) return;
				await this.sleep(retryMs);
			}
		};
		await Promise.all(Array.from({ length: times }, deliver));
	}

	private async send(job: Job): Promise<Sending> {
		if (job.webhookUrl === undefined) throw new Error(`Job ${job.scrapeId} has no webhookUrl`);
		const { notification } = this.settings();
		const status = statusAt(job, job.endsAt);
		const { url, ...request } = notificationRequest(notification, job.webhookUrl, status);
		const sending: Sending = {};
		job.notifications.push(sending);
		try {
			const tooLate = AbortSignal.timeout(RECEIVER_TIMEOUT_MS);
			const signal = AbortSignal.any([this.stopped.signal, tooLate]);
			const response = await fetch(url, { ...request, redirect: 'manual', signal });
			await response.arrayBuffer();
			sending.status = response.status;
		} catch {
			// It has no status.
		}
		return sending;
	}
}

/** Does not keep a process running that has nothing else to do. */
export async function pause(ms: number): Promise<void> {
	if (ms > 0) await sleep(ms, undefined, { ref: false });
}

/** No service gives an ID twice, also when it is started anew. */
function newId(style: JobSettings['scrapeIdStyle']): string {
	const random = randomBytes(6).toString('hex');
	return style === 'awkward' ? `job/${random} a+b&c=é?#%` : `scrape_${random}`;
}

/** What the status operation says. */
export function statusAt(job: Job, now = Date.now()): ScrapeStatus {
	const ended = now >= job.endsAt;
	const share = ended ? 1 : (now - job.createdAt) / (job.endsAt - job.createdAt);
	// Nothing happens in the pending first fifth; a job that fails gets half way.
	const reach = job.outcome === 'completed' ? 1 : 0.5;
	const done = Math.max((share - 0.2) / 0.8, 0) * reach;
	const isCompleted = ended && job.outcome === 'completed';
	return {
		scrapeId: job.scrapeId,
		status: ended ? job.outcome : share < 0.2 ? 'pending' : 'processing',
		progress: Math.floor(done * 100),
		leadsFound: Math.floor(job.limit * done),
		creditsUsed: job.estimatedCredits,
		createdAt: new Date(job.createdAt).toISOString(),
		...(isCompleted && { completedAt: new Date(job.endsAt).toISOString() }),
	};
}
