import { setTimeout as sleep } from 'node:timers/promises';
import { notificationRequest, type ScrapeStatus } from './notification';
import { digest } from './people';
import type { Settings } from './settings';

export interface ScrapeFilters {
	jobTitles?: string[];
	locations?: string[];
	industries?: string[];
	companySize?: string;
	limit?: number;
}

/** One try to deliver a notification. */
export interface Sending {
	/** Epoch ms. */
	at: number;
	method: string;
	url: string;
	body?: string;
	/** HTTP status that the receiver answered. */
	status?: number;
	/** Why there was no answer. */
	error?: string;
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
	outcome: 'completed' | 'failed';
	/** Notifications sent, oldest first. */
	notifications: Sending[];
}

/** A receiver that has not answered by then is given up. */
const RECEIVER_TIMEOUT_MS = 10_000;

/** The scrape jobs: their life from pending to the end, and the notification of it. */
export class Jobs {
	private readonly jobs = new Map<string, Job>();
	/** Those whose notification is sent, or will not be sent later. */
	private readonly announced = new Set<Job>();
	/** No service gives an ID twice, also when it is started anew. */
	private readonly epoch = Date.now();
	private readonly stopped = new AbortController();

	constructor(private readonly settings: () => Settings) {}

	start(
		given: Pick<Job, 'account' | 'filters' | 'limit' | 'webhookUrl' | 'estimatedCredits'>,
	): Job {
		const { job: options, notification } = this.settings();
		const now = Date.now();
		const job: Job = {
			...given,
			scrapeId: this.nextId(),
			createdAt: now,
			endsAt: now + options.durationMs,
			outcome: options.outcome,
			notifications: [],
		};
		this.jobs.set(job.scrapeId, job);
		const afterMs = options.durationMs - notification.earlyMs;
		void this.pause(afterMs).then(() => this.announce(job));
		return job;
	}

	find(scrapeId: string): Job | undefined {
		return this.jobs.get(scrapeId);
	}

	/** Every job with its true status, without any lag. */
	list(): Array<Job & ScrapeStatusFields> {
		return [...this.jobs.values()].map((job) => {
			const { status, progress, leadsFound, creditsUsed } = this.viewAt(job, Date.now());
			return { ...structuredClone(job), status, progress, leadsFound, creditsUsed };
		});
	}

	/** What the status operation says, which may lag behind. */
	statusOf(job: Job): ScrapeStatus {
		const now = Date.now();
		const lags = now < job.endsAt + this.settings().job.statusLagMs;
		return this.viewAt(job, lags ? Math.min(now, job.endsAt - 1) : now);
	}

	/** Ends a job now, its notification included, unless that was sent already. */
	finish(scrapeId: string, outcome: Job['outcome']): Job {
		const job = this.get(scrapeId);
		job.endsAt = Math.min(job.endsAt, Date.now());
		job.outcome = outcome;
		void this.announce(job);
		return job;
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
	private async pause(ms: number): Promise<void> {
		if (ms > 0) await sleep(ms, undefined, { ref: false });
		if (this.stopped.signal.aborted) await new Promise(() => {});
	}

	private get(scrapeId: string): Job {
		const job = this.jobs.get(scrapeId);
		if (job === undefined) throw new Error(`There is no job ${scrapeId}`);
		return job;
	}

	private nextId(): string {
		const { seed, job } = this.settings();
		const number = this.jobs.size + 1;
		switch (job.scrapeIdStyle) {
			case 'number-like':
				return `${String(this.epoch)}${String(number)}`;
			case 'awkward':
				return `job/${String(number)} a+b&c=é?#%${String(this.epoch)}`;
			default:
				return `scrape_${digest(seed, this.epoch, number).slice(0, 12)}`;
		}
	}

	private viewAt(job: Job, now: number): ScrapeStatus {
		const { job: options } = this.settings();
		const ended = now >= job.endsAt;
		const share = ended ? 1 : (now - job.createdAt) / (job.endsAt - job.createdAt);
		// Nothing happens in the pending first fifth; a failed job gets half way.
		const reach = job.outcome === 'failed' ? 0.5 : 1;
		const done = Math.max((share - 0.2) / 0.8, 0) * reach;
		const leadsFound = Math.floor(job.limit * options.leadShare * done);
		const completed = ended && job.outcome === 'completed';
		const view: ScrapeStatus = {
			scrapeId: job.scrapeId,
			status: ended ? job.outcome : share < 0.2 ? 'pending' : 'processing',
			progress: Math.floor(done * 100),
			leadsFound,
			creditsUsed: job.estimatedCredits,
			createdAt: new Date(job.createdAt).toISOString(),
		};
		if (completed) view.completedAt = new Date(job.endsAt).toISOString();
		else if (options.nullsInStatus) view.completedAt = null;
		return view;
	}

	/** Sends the notification as the settings ask for, once for each job. */
	private async announce(job: Job): Promise<void> {
		if (job.webhookUrl === undefined || this.announced.has(job)) return;
		this.announced.add(job);
		const { times, parallel, delayMs } = this.settings().notification;
		const pending: Array<Promise<void>> = [];
		for (let sent = 0; sent < times; sent++) {
			await this.pause(delayMs);
			const delivery = this.deliver(job);
			pending.push(delivery);
			if (!parallel) await delivery;
		}
		await Promise.all(pending);
	}

	private async deliver(job: Job): Promise<void> {
		const { retries, backoffMs } = this.settings().notification;
		for (let tried = 0; tried <= retries; tried++) {
			if (tried > 0) await this.pause(backoffMs);
			const { status = 0 } = await this.send(job);
			if (status >= 200 && status < 300) return;
		}
	}

	private async send(job: Job): Promise<Sending> {
		const { seed, notification } = this.settings();
		if (job.webhookUrl === undefined) throw new Error(`Job ${job.scrapeId} has no webhookUrl`);
		const view = this.viewAt(job, job.endsAt);
		const { url, ...request } = notificationRequest(seed, notification, job.webhookUrl, view);
		const sending: Sending = { at: Date.now(), method: request.method, url, body: request.body };
		job.notifications.push(sending);
		try {
			const signal = AbortSignal.any([
				this.stopped.signal,
				AbortSignal.timeout(RECEIVER_TIMEOUT_MS),
			]);
			const response = await fetch(url, { ...request, redirect: 'manual', signal });
			await response.arrayBuffer();
			sending.status = response.status;
		} catch (error) {
			sending.error = error instanceof Error ? error.message : String(error);
		}
		return sending;
	}
}

type ScrapeStatusFields = Pick<ScrapeStatus, 'status' | 'progress' | 'leadsFound' | 'creditsUsed'>;
