import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { ServerResponse } from 'node:http';
import { errorAnswer, jsonAnswer, Refusal, type Answer } from './answers';
import { faultyAnswer, Faults, isAfterWork } from './faults';
import { Jobs, pause, type Sending } from './jobs';
import { operations } from './operations';
import { RateLimiter } from './rateLimit';
import { bearerKey, recordOf, type RequestRecord } from './requestLog';
import { defaultSettings, mergeSettings } from './settings';
import type { Account, FaultRule, JobSettings, Settings, SettingsPatch } from './settings';

export interface SandboxOptions {
	/** 0, the default, takes any free port. */
	port?: number;
	/** Path that the service is served under, such as `/api/v1`; default none. */
	basePath?: string;
	settings?: SettingsPatch;
}

/** Starts the service in memory on 127.0.0.1. It runs until its `close()`. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
	const sandbox = new Sandbox(options);
	await sandbox.listen();
	return sandbox;
}

const HOST = '127.0.0.1';
const NO_QUERY = { type: 'object', additionalProperties: false };
/**
 * How many connections may wait until this process accepts them. With the 511 of Node.js, two busy n8n processes can
 * fill the queue, and Linux then resets connections whose request never arrived.
 */
const BACKLOG = 4096;

/** By then, everyone who may call waits for an answer. */
const DRAIN_MS = 200;

export class Sandbox {
	/** Base address, without a trailing slash. */
	url = '';
	/** Every request to the service so far, oldest first. */
	requests: RequestRecord[] = [];
	settings: Settings = defaultSettings();
	/**
	 * Answers each request that the service takes, if a test sets it. Gives nothing if it answers by itself. What the
	 * service does not take is refused in any case.
	 */
	respond?: (request: RequestRecord, response: ServerResponse) => Promise<Answer | undefined>;

	private jobStore = new Jobs(() => this.settings);
	private faults = new Faults([]);
	private readonly limiter = new RateLimiter();
	private readonly app = newServer();
	/** No answer goes out before it resolves. */
	private held: Promise<void> | undefined;

	constructor(private readonly options: SandboxOptions) {
		this.reset(options.settings);
		for (const [name, { method, path, query = NO_QUERY, body }] of Object.entries(operations)) {
			this.app.route({
				method,
				url: `${options.basePath ?? ''}${path}`,
				schema: { querystring: query, ...(body && { body }) },
				attachValidation: true,
				handler: (request, reply) => this.handle(request, reply, name),
			});
		}
		this.app.setNotFoundHandler((request, reply) => this.handle(request, reply));
	}

	async listen(): Promise<void> {
		const { port = 0, basePath = '' } = this.options;
		this.url = (await this.app.listen({ host: HOST, port, backlog: BACKLOG })) + basePath;
	}

	/**
	 * Answers what is in flight, and refuses connections until `comeBack()`. The answers are held back until
	 * then, so that nobody connects at the very moment, whose request would be lost halfway.
	 */
	async goDown(): Promise<void> {
		let release = () => {};
		this.held = new Promise((resolve) => (release = resolve));
		await pause(DRAIN_MS);
		const closed = new Promise((resolve) => this.app.server.close(resolve));
		release();
		await closed;
	}

	async comeBack(): Promise<void> {
		const { server } = this.app;
		const port = Number(new URL(this.url).port);
		await new Promise<void>((resolve) => server.listen(port, HOST, BACKLOG, resolve));
	}

	/** Changes settings, see {@link mergeSettings}; balances and counts stay unless given anew. */
	set(patch: SettingsPatch): void {
		this.settings = mergeSettings(this.settings, patch);
		if (patch.faults) this.faults = new Faults(this.settings.faults);
		if (patch.rateLimit || patch.accounts) this.limiter.forget();
	}

	/** Forgets every request, job and count, and goes back to the default settings and `patch`. */
	reset(patch: SettingsPatch = {}): void {
		this.jobStore.stop();
		this.jobStore = new Jobs(() => this.settings);
		this.requests = [];
		this.limiter.forget();
		this.respond = undefined;
		this.settings = defaultSettings();
		this.set({ faults: [], ...patch });
	}

	/** Credits left in an account, by default the first. */
	credits(apiKey = Object.keys(this.settings.accounts)[0] ?? ''): number {
		return this.settings.accounts[apiKey]?.credits ?? 0;
	}

	/** Every scrape job with its true status and the notifications sent, oldest first. */
	get jobs() {
		return this.jobStore.list();
	}

	/** Ends a job now, and sends its notification unless that was sent already. */
	finish(scrapeId: string, outcome: JobSettings['outcome']): void {
		this.jobStore.finish(scrapeId, outcome);
	}

	/** Sends the notification of a job once, now. Resolves when it is answered. */
	async notify(scrapeId: string): Promise<Sending> {
		return await this.jobStore.notify(scrapeId);
	}

	/** Stops all timers and cuts all connections. */
	async close(): Promise<void> {
		this.jobStore.stop();
		await this.app.close();
	}

	/** The whole way of a request; everything up to the answer happens at once, without a pause. */
	private async handle(request: FastifyRequest, reply: FastifyReply, operation?: string) {
		const record = recordOf(request, operation);
		this.requests.push(record);
		if (this.respond && record.violation === undefined) {
			const own = await this.respond(record, reply.raw);
			if (!own) return reply.hijack();
			return await reply.code(own.status).headers(own.headers).send(own.body);
		}
		const { answer, fault } = this.decide(record, bearerKey(request) ?? '');
		switch (fault?.kind) {
			case 'resetBeforeWork':
			case 'resetAfterWork':
				reply.hijack();
				request.raw.socket.resetAndDestroy();
				return reply;
			case 'hang':
				return reply.hijack();
		}
		await pause(this.settings.latencyMs + (fault?.delayMs ?? 0));
		await this.held;
		record.status = answer.status;
		record.answeredAt = Date.now();
		return await reply.code(answer.status).headers(answer.headers).send(answer.body);
	}

	/** Rate limit, fault, authentication, validation, credits and work, in this order. */
	private decide(record: RequestRecord, apiKey: string): { answer: Answer; fault?: FaultRule } {
		const { rateLimit } = this.settings;
		const account = this.settings.accounts[apiKey];
		if (account) record.account = apiKey;
		const waitMs = this.limiter.check(rateLimit, account?.plan ?? '', apiKey, record.at);
		if (waitMs > 0) {
			const refusal = errorAnswer('RATE_LIMIT_EXCEEDED', 'Too many requests');
			if (rateLimit.retryAfter) refusal.headers['Retry-After'] = String(Math.ceil(waitMs / 1000));
			return { answer: refusal };
		}
		const fault = this.faults.pick(record);
		if (fault && !isAfterWork(fault)) return { answer: faultyAnswer(fault), fault };
		return { answer: this.work(record, account), fault };
	}

	private work(record: RequestRecord, account?: Account): Answer {
		const { account: apiKey = '', body, query, violation } = record;
		try {
			const operation = operations[record.operation ?? ''];
			if (!operation) throw new Refusal('NOT_FOUND', 'No such path');
			if (!account) throw new Refusal('UNAUTHORIZED', 'Invalid or missing API key');
			if (violation !== undefined) throw new Refusal('INVALID_REQUEST', violation);
			const given = { apiKey, account, jobs: this.jobStore, body, query };
			const { data, cost } = operation.work(given);
			account.credits -= cost;
			record.cost = cost;
			const requestId = `req_${String(this.requests.length)}`;
			const extra = this.settings.extraFields ? { requestId } : {};
			return jsonAnswer(200, { success: true, data: { ...data, ...extra } });
		} catch (error) {
			if (!(error instanceof Refusal)) throw error;
			return errorAnswer(error.code, error.message);
		}
	}
}

function newServer(): FastifyInstance {
	const app = fastify({
		exposeHeadRoutes: false,
		forceCloseConnections: true,
		ajv: { customOptions: { coerceTypes: false, removeAdditional: false } },
	});
	// A body that is not JSON, or does not say so, is kept as text and fails validation.
	app.removeAllContentTypeParsers();
	app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, text, done) => {
		done(null, parsed(String(text)));
	});
	app.addContentTypeParser('*', { parseAs: 'string' }, (_request, text, done) => {
		done(null, text);
	});
	return app;
}

function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return text;
	}
}
