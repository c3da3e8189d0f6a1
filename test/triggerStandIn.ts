import fc from 'fast-check';
import { createHash } from 'node:crypto';
import type {
	IDataObject,
	IExecuteFunctions,
	IHookFunctions,
	INodeExecutionData,
	INodeType,
	ITriggerFunctions,
	IWebhookFunctions,
} from 'n8n-workflow';
import type { memoryOf } from '../nodes/LeadGen/trigger/memory';

/**
 * Stands in for n8n and the service around the real trigger, in memory and in virtual time: processes that
 * crash, a database and a queue that fail, answers that get lost. Times are milliseconds.
 */

/** What becomes of a start. After one that is `notDone` the service answers with an error and does nothing. */
const START_KINDS = [
	...(['ok', 'slow', 'lost', 'cut', 'broken', 'notDone'] as const),
	...(['rate', 'refused', 'unconnected'] as const),
];
/** What can fail for a while. The disk is full more often than the rest. */
const OUTAGES = [
	...(['database', 'disk', 'disk', 'queue', 'url', 'answers', 'status', 'lag', 'load'] as const),
];
const MAINS = ['main', 'main2'];
const TOPOLOGIES = {
	single: { mains: ['main'], receivers: ['main'], workers: [] },
	queue: { mains: ['main'], receivers: ['hook1', 'hook2'], workers: ['worker1', 'worker2'] },
	multi: { mains: MAINS, receivers: MAINS, workers: ['worker1', 'worker2'] },
};
const DUE_MINUTES = 7;
const INJECTED = 'Injected';
const MOST_STEPS = 30_000;
const BEGIN = Date.UTC(2030, 0, 1);
const PUBLIC = 'https://n8n.example.com';
const SERVICE = 'https://service.example.com';
const never = new Promise<never>(() => {});

/** What differs from one history to the next, beside what happens. */
export const SETTING = {
	seed: fc.integer(),
	mode: fc.constantFrom('startScrape', 'startScrape', 'listen'),
	schedule: fc.constantFrom('once', 'cron'),
	topology: fc.constantFrom('single' as const, 'queue' as const, 'multi' as const),
	/** Line of n8n. */
	version: fc.constantFrom(1, 2),
	/** What becomes of the first starts; the others are `ok`. */
	starts: fc.array(fc.constantFrom(...START_KINDS), { maxLength: 4 }),
	/** Which calls of the trigger to n8n throw, counted from the first one. */
	faults: fc.array(
		fc.record({ from: fc.oneof(fc.nat(200), fc.nat(600)), count: fc.integer({ min: 1, max: 6 }) }),
		{
			maxLength: 4,
		},
	),
};
export type Setting = {
	[key in keyof typeof SETTING]: (typeof SETTING)[key] extends fc.Arbitrary<infer T> ? T : never;
};

/** A copy of the trigger's modules, as each process of n8n has one. */
export interface Copy {
	node: INodeType;
	memoryOf: typeof memoryOf;
	process?: Process;
}

export interface Execution {
	id: string;
	json: IDataObject;
	/** The process in which it began, if it did, and when its gate began and ended. */
	process?: string;
	from: number;
	to: number;
	result?: 'passed' | 'dropped' | 'failed';
	/** A fault hit its gate. */
	isUnchecked?: boolean;
}

/** A scrape that was asked for, as far as the outside knows. */
export interface Scrape {
	id: string;
	attempt: string;
	createdAt: number;
	finishedAt: number;
	/** The node answered a notification of it with success. */
	isNotified?: boolean;
}

interface Request {
	url: string;
	headers?: IDataObject;
	query?: IDataObject;
	qs?: IDataObject;
	body: unknown;
	timeout: number;
}

interface Answer {
	status: number;
	value: object;
}

/** How often which call of the trigger to n8n threw, in all histories. */
export const thrown = new Map<string, number>();

/** Time that passes only when nothing is left to do before. */
export class Clock {
	now = BEGIN;
	private readonly timers: Array<{ at: number; run: () => void }> = [];
	private reads = 0;

	/** @throws Error if it is read so often that somebody must be going round in circles */
	read(): number {
		if (++this.reads > MOST_STEPS) throw new Error('The trigger keeps the process busy');
		return this.now;
	}

	after(ms: number, run: () => void): void {
		const at = this.now + Math.max(0, ms);
		this.timers.splice(this.timers.findLastIndex((timer) => timer.at <= at) + 1, 0, { at, run });
	}

	/** @throws Error if so much happens that somebody must be going round in circles */
	async pass(ms: number, isEnough = () => false): Promise<void> {
		const end = this.now + ms;
		for (let steps = 0; steps < MOST_STEPS; steps++) {
			await new Promise((resolve) => setImmediate(resolve));
			if (isEnough()) return;
			const [timer] = this.timers;
			this.now = Math.min(end, timer?.at ?? end);
			if (!timer || timer.at > end) return;
			this.timers.shift();
			this.reads = 0;
			timer.run();
		}
		throw new Error('The trigger does not come to rest');
	}
}

class Process {
	isAlive = true;
	/** It takes no new requests. */
	isStopping = false;
	close?: () => Promise<void>;
	/** Scrapes that the service told it of as started. */
	readonly started: string[] = [];
	/** Ends the requests that it has to answer. */
	readonly requests = new Set<(error: Error) => void>();

	constructor(
		readonly name: string,
		readonly node: INodeType,
		private readonly clock: Clock,
	) {}

	/** Never ends if the process crashes before. */
	async wait(ms: number): Promise<void> {
		await new Promise<void>((resolve) => {
			this.clock.after(ms, resolve);
		});
		if (!this.isAlive) await never;
	}

	async whileAlive<T>(task: Promise<T>): Promise<T> {
		return await task.finally(async () => {
			if (!this.isAlive) await never;
		});
	}
}

export class World {
	readonly clock = new Clock();
	readonly executions: Execution[] = [];
	readonly scrapes: Scrape[] = [];
	/** Starts that the service may have accepted. */
	readonly sent: Array<{ attempt: string; at: number }> = [];
	readonly wrong: string[] = [];
	readonly log: string[] = [];
	/** Calls of the trigger to n8n, and of the node to its own URL. */
	calls = 0;
	ownCalls = 0;
	hasWrittenBack = false;
	/** What the account has left. */
	credits = 100;
	readonly identity: { workflowId: string; nodeId: string };
	/** Starts that a person or a change of the filters asked for. */
	private asked = 0;
	private isActive = false;
	private isActivating = false;
	private isRegistered = false;
	private isHealed = false;
	private filters = 0;
	private leader = 'main';
	private state: number;
	private readonly starts: Array<(typeof START_KINDS)[number]>;
	private saved = '{}';
	private readonly versions = [{ at: 0, text: '{}' }];
	private processed: string[] | undefined;
	private readonly outages = new Map<string, number>();
	private readonly processes = new Map<string, Process>();
	/** Who knows a scrape ID or an attempt, and which of them a crash or an old copy erased everywhere. */
	private readonly holders = new Map<string, Set<Process>>();
	private readonly lost = new Set<string>();
	private readonly pool: Copy[];
	private readonly topology: Record<'mains' | 'receivers' | 'workers', string[]>;

	constructor(
		private readonly setting: Setting,
		copies: readonly Copy[],
		name: string,
	) {
		this.identity = { workflowId: `workflow ${name}`, nodeId: `node ${name}` };
		this.state = setting.seed;
		this.starts = [...setting.starts];
		this.pool = [...copies];
		this.topology = TOPOLOGIES[setting.topology];
		for (const each of new Set(Object.values(this.topology).flat())) this.boot(each);
	}

	readonly random = (): number => {
		this.state = (this.state + 0x6d2b79f5) | 0;
		let value = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
		value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
		return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
	};

	private between(from: number, to: number): number {
		return Math.floor(from + this.random() * (to - from));
	}

	private oneOf(names: readonly string[]): Process | undefined {
		const alive = this.alive(names);
		return alive[this.between(0, alive.length)];
	}

	private note(text: string): void {
		this.log.push(`${String(this.clock.now - BEGIN).padStart(8)} ${text}`);
	}

	/** Whether one of them is failing. */
	private is(...outages: Array<(typeof OUTAGES)[number]>): boolean {
		return outages.some((outage) => (this.outages.get(outage) ?? 0) > this.clock.now);
	}

	/** Each call of the trigger to n8n can fail. */
	private call<T>(what: string, value: T): T {
		const index = this.calls++;
		const { faults } = this.setting;
		const isFaulty = faults.some(({ from, count }) => index >= from && index < from + count);
		if (!isFaulty || this.isHealed) return value;
		this.note(`fault in ${what}`);
		thrown.set(what, (thrown.get(what) ?? 0) + 1);
		throw new Error(`${INJECTED}: ${what}`);
	}

	// Processes

	private boot(name: string): Process | undefined {
		const copy = this.pool.shift();
		if (!copy) return undefined;
		copy.process = new Process(name, copy.node, this.clock);
		this.processes.set(name, copy.process);
		return copy.process;
	}

	private alive(names: readonly string[]): Process[] {
		return names.flatMap((name) => this.processes.get(name) ?? []).filter((each) => each.isAlive);
	}

	private get leading(): Process | undefined {
		return this.alive([this.leader])[0];
	}

	private get follower(): string | undefined {
		return this.topology.mains.find((name) => name !== this.leader);
	}

	private crash(name: string, ms: number): void {
		const [process] = this.alive([name]);
		if (!process || this.pool.length === 0) return;
		this.note(`${name} crashes`);
		process.isAlive = false;
		for (const reject of process.requests) reject(networkError('ECONNRESET', 'read'));
		this.forget();
		this.clock.after(ms, () => {
			this.restart(name);
		});
		const { follower } = this;
		if (name !== this.leader || follower === undefined) return;
		this.clock.after(this.between(0, 15_000), () => {
			if (!this.leading) this.lead(follower);
		});
	}

	/** As a service manager does it: n8n takes no new requests, ends those under way, and closes its triggers. */
	private async stop(name: string, ms: number): Promise<void> {
		const [process] = this.alive([name]);
		if (!process || process.isStopping) return;
		this.note(`${name} stops`);
		process.isStopping = true;
		const isCalm = () =>
			this.isRegistered &&
			!this.is(...OUTAGES) &&
			!this.hasWrittenBack &&
			(this.isHealed || this.setting.faults.length === 0);
		const wasCalm = isCalm();
		await Promise.race([
			process.whileAlive(process.close?.() ?? Promise.resolve()),
			process.wait(30_000),
		]);
		for (const id of process.started) {
			if (wasCalm && isCalm() && !this.saved.includes(id)) this.wrong.push(`${id} is forgotten`);
		}
		this.crash(name, ms);
		// There may be no process left to take its place.
		process.isStopping = false;
	}

	private restart(name: string): void {
		const process = this.alive([name]).length === 0 ? this.boot(name) : undefined;
		if (!process) return;
		this.note(`${name} restarts`);
		if (!this.isActive || !this.topology.mains.includes(name)) return;
		if (name === this.leader) void this.add(process, this.isActivating ? 'activate' : 'init');
		else void this.hook(process, 'create', 'init').catch(() => {});
	}

	private lead(name: string): void {
		const [process] = this.alive([name]);
		if (!process) return;
		this.note(`${name} leads`);
		this.leader = name;
		if (this.isActive) void this.add(process, 'leadershipChange');
	}

	// Activation

	/** Somebody saves or publishes the workflow. */
	private async save(isChanged: boolean): Promise<void> {
		const { leading } = this;
		if (!this.isActive || !leading || this.isActivating) return;
		this.note(isChanged ? 'save with other filters' : 'save');
		this.filters += Number(isChanged);
		this.asked += Number(isChanged);
		await this.remove(leading);
		await this.add(leading, 'update');
	}

	private async remove(process: Process): Promise<void> {
		this.isRegistered = false;
		await this.hook(process, 'delete', 'update').catch(() => {});
		await process.close?.();
	}

	private async add(process: Process, mode: string): Promise<void> {
		const isOld = this.setting.version === 1;
		const trigger = async () => {
			const emit = ([items]: INodeExecutionData[][]) => {
				const [item] = items ?? [];
				this.call('emit', undefined);
				if (item) this.execute(process, item.json, 'trigger');
			};
			const context = this.context(process, 'trigger', { getActivationMode: () => mode, emit });
			process.close = (await process.node.trigger?.call(context))?.closeFunction;
		};
		// n8n 2 runs both side by side.
		if (!isOld) await trigger();
		for (let pause = 1000; ; pause *= 2) {
			await process.wait(this.between(0, 1000));
			try {
				await this.hook(process, 'create', mode);
				break;
			} catch {
				this.note('create fails');
				await this.hook(process, 'delete', mode).catch(() => {});
				if (isOld && mode !== 'init' && mode !== 'leadershipChange') {
					this.isActive = this.isActivating = false;
					return;
				}
				await process.wait(pause);
			}
			if (!this.isActive) return;
		}
		if (isOld) await trigger();
		// n8n 2 may wait for another trigger of the workflow, and begins again if it crashes meanwhile.
		else if (mode === 'activate') await process.wait(this.between(0, 15_000));
		this.isActivating = false;
	}

	private async hook(process: Process, name: 'create' | 'delete', mode: string): Promise<void> {
		const data = this.staticData(process);
		await process.wait(this.between(1, 30));
		if (name === 'create') this.isRegistered = this.isActive;
		const { methods } = data;
		const context = this.context(process, 'trigger', { ...methods, getActivationMode: () => mode });
		const hook = process.node.webhookMethods?.default?.[name];
		await process.whileAlive(Promise.resolve(hook?.call(context)));
		data.save();
	}

	// What the trigger calls

	private context(process: Process, mode: string, more: object) {
		const log = () => {
			this.call('logger', undefined);
		};
		const parameters: IDataObject = {
			...{ mode: this.setting.mode, schedule: this.setting.schedule, limit: 5, options: {} },
			...{ cronExpression: `*/${String(DUE_MINUTES)} * * * *`, filtersMode: 'fields' },
			filters: { jobTitles: [`Title ${String(this.filters)}`] },
			...{ events: ['completed', 'failed'], output: 'scrape' },
		};
		const context = {
			getNode: () => ({
				...{
					id: this.identity.nodeId,
					name: 'LeadGen Trigger',
					webhookId: 'webhook-1',
					parameters,
				},
				...{ type: 'leadGenTrigger', typeVersion: 1, position: [0, 0] },
			}),
			getMode: () => mode,
			getWorkflow: () => ({ id: this.identity.workflowId, name: 'Test', active: this.isActive }),
			getInstanceId: () => 'n8n',
			getTimezone: () => this.call('time zone', 'UTC'),
			getNodeParameter: (name: string) => this.call('parameter', parameters[name]),
			getNodeWebhookUrl: () => this.call('URL', `${PUBLIC}/webhook/webhook-1/leadgen`),
			getCredentials: async () => {
				await process.wait(this.between(0, 3));
				if (this.is('database')) throw new Error('The database is down');
				const apiKey = `key ${this.identity.nodeId}`;
				return this.call('credential', { baseUrl: SERVICE, apiKey, plan: 'enterprise' });
			},
			logger: { debug: log, info: log, warn: log, error: log },
			helpers: {
				httpRequest: async (request: Request) => {
					this.ownCalls++;
					this.call('request', undefined);
					return await process.whileAlive(this.callNode(process, request));
				},
				httpRequestWithAuthentication: async (_type: string, request: Request) => {
					this.call('request to the service', undefined);
					await process.wait(this.between(1, 50));
					const { status, value } = await process.whileAlive(this.serve(process, request));
					return { statusCode: status, headers: {}, body: JSON.stringify(value) };
				},
				checkProcessedAndRecord: async (values: string[]) => {
					this.call('deduplication', undefined);
					return await this.deduplicate(process, values);
				},
			},
			...more,
		};
		return context as unknown as ITriggerFunctions &
			IHookFunctions &
			IWebhookFunctions &
			IExecuteFunctions;
	}

	// The database

	/** The static data as it is now, and what saves it if it was changed. */
	private staticData(process: Process) {
		const loaded = this.saved;
		const data = JSON.parse(loaded) as IDataObject;
		return {
			loaded,
			methods: { getWorkflowStaticData: () => this.call('static data', (data.global ??= {})) },
			save: () => {
				const text = JSON.stringify(data);
				if (text === loaded) return;
				this.clock.after(this.between(1, 40), () => {
					if (!process.isAlive) return;
					if (this.is('database', 'disk')) this.note('static data is not saved');
					else this.write(text);
				});
			},
		};
	}

	private write(text: string): void {
		this.saved = text;
		this.versions.push({ at: this.clock.now, text });
	}

	/** As n8n's deduplication does it: it reads the row, then writes all of it. */
	private async deduplicate(process: Process, values: string[]) {
		await process.wait(this.between(1, 8));
		if (this.is('database')) throw new Error('The database is down');
		const row = this.processed;
		await process.wait(this.between(1, 8));
		if (this.is('database', 'disk')) throw new Error('The database cannot be written');
		if (!row && this.processed) throw new Error('UNIQUE constraint failed');
		const hash = (value: string) => createHash('md5').update(value).digest('base64');
		const fresh = values.filter((value) => !row?.includes(hash(value)));
		this.processed = [...(row ?? []), ...fresh.map(hash)];
		return { new: fresh, processed: values.filter((value) => !fresh.includes(value)) };
	}

	// Executions

	private execute(origin: Process, json: IDataObject, mode: string): void {
		const copy = JSON.parse(JSON.stringify(json)) as IDataObject;
		this.clock.after(this.between(1, 20), () => {
			if (!origin.isAlive) return;
			if (this.is('database', 'disk', 'queue')) {
				this.note('an execution is lost');
				return;
			}
			const id = String(this.executions.length + 1);
			const execution = { id, json: copy, from: 0, to: Infinity };
			this.executions.push(execution);
			this.enqueue(origin, execution, mode);
		});
	}

	private enqueue(origin: Process, execution: Execution, mode: string): void {
		const { workers } = this.topology;
		this.clock.after(workers.length > 0 ? this.between(5, 500) : this.between(0, 20), () => {
			const process = workers.length > 0 ? this.oneOf(workers) : origin;
			if (!process) this.enqueue(origin, execution, mode);
			else if (process.isAlive) void this.run(process, execution, mode);
		});
	}

	private async run(process: Process, execution: Execution, mode: string): Promise<void> {
		execution.process = process.name;
		execution.from = this.clock.now;
		const context = this.context(process, mode, {
			getExecutionId: () => execution.id,
			getInputData: () => [{ json: execution.json }],
		});
		const { helpers } = context;
		const check = helpers.checkProcessedAndRecord.bind(helpers);
		helpers.checkProcessedAndRecord = async (...values) =>
			await check(...values).catch((error: unknown) => {
				execution.isUnchecked = true;
				throw error;
			});
		const task = Promise.resolve(process.node.execute?.call(context));
		execution.result = await process.whileAlive(task).then(
			(output) => (output === null ? 'dropped' : 'passed'),
			(error: unknown) => {
				execution.isUnchecked ||= String(error).includes(INJECTED);
				return 'failed';
			},
		);
		execution.to = this.clock.now;
		this.note(`execution ${execution.id} of ${idOf(execution)} ${execution.result}`);
	}

	// Requests to the node's URL

	private async callNode(process: Process, request: Request) {
		await process.wait(this.between(1, 20));
		const isMain = this.topology.mains.includes(process.name);
		const isPublic = request.url.startsWith(PUBLIC);
		const target = isPublic ? this.oneOf(this.topology.receivers) : isMain ? process : undefined;
		if (!target || target.isStopping || this.is('url'))
			throw networkError('ECONNREFUSED', 'connect');
		const body = JSON.parse(request.body as string) as IDataObject;
		const answer = this.receive(target, { ...request, body });
		const { status, value } = await this.inTime(answer, request.timeout);
		await process.wait(this.between(1, 20));
		const text = JSON.stringify(value);
		this.learn(process, text);
		return { statusCode: status, body: text };
	}

	private async inTime<T>(answer: Promise<T>, ms: number): Promise<T> {
		const late = new Promise<never>((_resolve, reject) => {
			this.clock.after(ms, () => {
				reject(networkError('ECONNABORTED', ''));
			});
		});
		const isLost = this.is('answers') && this.random() < 0.5;
		const last = isLost ? answer.then(async () => await never) : answer;
		return await Promise.race([last, late]);
	}

	/** A request comes in, and is answered as n8n answers it. */
	private async receive(
		process: Process,
		{ headers = {}, query = {}, body }: Pick<Request, 'headers' | 'query' | 'body'>,
	): Promise<Answer> {
		const isDown = this.is('database');
		const data = this.staticData(process);
		return await new Promise((resolve, reject) => {
			process.requests.add(reject);
			const respond = (status: number, value: object) => {
				process.requests.delete(reject);
				const isKnown = status === 200 && !('problem' in value);
				if (isKnown) this.learn(process, data.loaded + JSON.stringify([value, body]));
				resolve({ status, value });
			};
			const handle = async () => {
				await process.wait(this.is('load') ? this.between(1, 3000) : this.between(1, 30));
				if (isDown) throw new Error('The database is down');
				if (!this.isRegistered) {
					respond(404, {});
					return;
				}
				const context = this.context(process, 'webhook', {
					...data.methods,
					getHeaderData: () => headers,
					getQueryData: () => query,
					getBodyData: () => body,
					getRequestObject: () => ({ method: 'POST' }),
					getResponseObject: () => ({
						status: (code: number) => ({ json: respond.bind(null, code) }),
					}),
				});
				const task = Promise.resolve(process.node.webhook?.call(context));
				const [[item] = []] = (await process.whileAlive(task))?.workflowData ?? [];
				data.save();
				if (item) this.execute(process, item.json, 'webhook');
			};
			handle().catch((error: unknown) => {
				this.note(`webhook() fails: ${String(error)}`);
				respond(500, {});
			});
		});
	}

	// The service

	private async serve(process: Process, { url, qs, body, timeout }: Request): Promise<Answer> {
		if (url.endsWith('/credits')) return success({ credits: this.credits, plan: 'enterprise' });
		if (url.endsWith('/start')) {
			const answer = await this.inTime(
				this.start(process, (body as { webhookUrl: string }).webhookUrl),
				timeout,
			);
			this.learn(process, JSON.stringify(answer.value));
			const { data } = answer.value as { data?: { scrapeId: string } };
			if (data) process.started.push(data.scrapeId);
			return answer;
		}
		const failing = this.is('status') ? this.between(0, 4) : undefined;
		if (failing === 0) throw networkError('ECONNRESET', 'read');
		if (failing === 1) throw networkError('ECONNREFUSED', 'connect');
		const scrape = this.scrapes.find(({ id }) => id === qs?.scrapeId);
		if (failing !== undefined || !scrape) return failure(failing === 2 ? 500 : 404, 'NOT_FOUND');
		const { id: scrapeId, createdAt, finishedAt } = scrape;
		const isOver = finishedAt + (this.is('lag') ? 60_000 : 0) <= this.clock.now;
		const result = /[49]$/.test(scrapeId) ? 'failed' : 'completed';
		return success({
			...{ scrapeId, status: isOver ? result : 'processing' },
			createdAt: new Date(createdAt).toISOString(),
			...(isOver && result === 'completed' && { completedAt: new Date(finishedAt).toISOString() }),
		});
	}

	private async start(process: Process, webhookUrl: string): Promise<Answer> {
		const kind = this.starts.shift() ?? 'ok';
		const query = Object.fromEntries(new URL(webhookUrl).searchParams);
		const attempt = query.attempt ?? '';
		this.note(`start ${attempt} from ${process.name}: ${kind}`);
		if (kind === 'unconnected') throw networkError('ECONNREFUSED', 'connect');
		if (kind === 'rate') return failure(429, 'RATE_LIMIT_EXCEEDED');
		if (kind === 'refused') return failure(402, 'INSUFFICIENT_CREDITS');
		this.sent.push({ attempt, at: this.clock.now });
		this.learn(process, attempt, attempt);
		this.checkPaid();
		if (kind === 'notDone') return failure(500, 'BROKEN');
		const scrapeId = this.addScrape(attempt, query);
		if (kind === 'slow') await process.wait(this.between(5000, 150_000));
		if (kind === 'lost') return await never;
		if (kind === 'cut') throw networkError('ECONNRESET', 'read');
		return kind === 'broken' ? failure(500, 'BROKEN') : success({ scrapeId, status: 'pending' });
	}

	/** Nothing is paid for twice: no start goes out that nobody asked for. */
	private checkPaid(): void {
		const minutes = (this.clock.now - BEGIN) / 60_000;
		const inHours = Math.floor(minutes / 60) * Math.ceil(60 / DUE_MINUTES);
		const isScheduled = this.setting.schedule === 'cron';
		const due = isScheduled ? inHours + Math.floor((minutes % 60) / DUE_MINUTES) : 0;
		const wants = this.sent.map(({ attempt }) => attempt.replace(/-\d+$/, ''));
		if (new Set(wants).size < wants.length) this.wrong.push(`paid twice for ${wants.join()}`);
		// Of what a crash and an old copy erased together, nobody can know.
		const isErased = ({ attempt }: { attempt: string }) =>
			this.hasWrittenBack && !this.isKnown(attempt);
		const erased = this.sent.filter(isErased).length;
		if (wants.length > this.asked + due + erased) this.wrong.push('paid for what nobody asked for');
	}

	/** A scrape begins, and its notifications are sent in time. @returns its ID */
	private addScrape(attempt: string, query: IDataObject = {}): string {
		const id = `scrape-${String(this.scrapes.length)}`;
		const createdAt = this.clock.now;
		const lasts = this.between(500, this.random() < 0.5 ? 20_000 : 900_000);
		const scrape: Scrape = { id, attempt, createdAt, finishedAt: createdAt + lasts };
		this.scrapes.push(scrape);
		for (let left = this.between(attempt === '' ? 1 : 0, 4); left > 0; left--) {
			const late = this.between(-3000, this.random() < 0.5 ? 10 : 30_000);
			this.notifyLater(lasts + late, scrape, query, this.between(0, 5));
		}
		return id;
	}

	/** So many scrapes of somebody else finish now, and the service notifies of each at once. */
	burst(count: number): void {
		const { now } = this.clock;
		for (let left = count; left > 0; left--) {
			const id = `scrape-${String(this.scrapes.length)}`;
			const scrape: Scrape = { id, attempt: '', createdAt: now, finishedAt: now };
			this.scrapes.push(scrape);
			this.notifyLater(0, scrape, {}, 5);
		}
	}

	/** How often the static data was saved. */
	get writes(): number {
		return this.versions.length;
	}

	private notifyLater(ms: number, scrape: Scrape, query: IDataObject, repeats: number): void {
		const notify = async () => {
			const target = this.oneOf(this.topology.receivers);
			const leads = [{ name: 'A' }, { name: 'B' }];
			const body = { scrapeId: scrape.id, status: 'completed', leads };
			const answer =
				target && !target.isStopping && this.inTime(this.receive(target, { query, body }), 30_000);
			const status = (await (answer || undefined)?.catch(() => undefined))?.status;
			this.note(`notification of ${scrape.id} at ${String(target?.name)}: ${String(status)}`);
			if (status === 200) scrape.isNotified = true;
			else if (repeats > 0)
				this.notifyLater(this.between(5000, 60_000), scrape, query, repeats - 1);
		};
		this.clock.after(ms, () => void notify());
	}

	// Who knows what

	/** Whether somebody was told a scrape ID or an attempt, and nothing erased it everywhere. */
	isKnown(key: string): boolean {
		return this.holders.has(key) && !this.lost.has(key);
	}

	private learn(process: Process, text: string, attempt = ''): void {
		for (const key of [attempt, ...this.scrapes.map(({ id }) => id)]) {
			if (key === '' || !text.includes(key)) continue;
			this.holders.set(key, (this.holders.get(key) ?? new Set()).add(process));
			this.lost.delete(key);
		}
	}

	/** What only a crashed process knew is lost. */
	private forget(): void {
		for (const [key, holders] of this.holders) {
			const isHeld = [...holders].some(({ isAlive }) => isAlive) || this.saved.includes(key);
			if (!isHeld) this.lost.add(key);
		}
	}

	// The history

	/** What can happen, with a number to choose by and a time. */
	readonly events = {
		activate: () => {
			if (this.isActive || !this.leading) return;
			this.note('activate');
			this.isActive = this.isActivating = true;
			this.asked++;
			void this.add(this.leading, 'activate');
		},
		deactivate: () => {
			if (!this.isActive || !this.leading) return;
			this.note('deactivate');
			this.isActive = this.isActivating = false;
			void this.remove(this.leading);
		},
		save: () => void this.save(false),
		change: () => void this.save(true),
		crash: (pick: number, ms: number) => {
			const names = [...this.processes.keys()];
			this.crash(names[pick % names.length] ?? '', ms);
		},
		stop: (pick: number, ms: number) => {
			const names = [...this.processes.keys()];
			void this.stop(names[pick % names.length] ?? '', ms);
		},
		/** The disk is full until the leader crashes. */
		power: (_pick: number, ms: number) => {
			const left = ms % 10_000;
			this.outages.set('disk', this.clock.now + left);
			this.clock.after(left, () => {
				this.crash(this.leader, 5000);
			});
		},
		outage: (pick: number, ms: number) => {
			this.fail(OUTAGES[pick % OUTAGES.length] ?? 'url', ms);
		},
		/** Another main process leads; the one that did notices late. */
		leader: (_pick: number, ms: number) => {
			const before = this.leading;
			const [follower] = this.alive([this.follower ?? '']);
			if (!follower) return;
			this.clock.after(ms % 20_000, () => {
				if (before?.name !== this.leader) void before?.close?.();
			});
			this.lead(follower.name);
		},
		/** A Code node writes the static data as it was when its execution began. */
		writeBack: (_pick: number, age: number) => {
			const old = this.versions.findLast(({ at }) => at <= this.clock.now - age);
			if (this.is('database', 'disk') || !old) return;
			this.note(`the static data of ${String(age)} ms ago is written back`);
			this.hasWrittenBack = true;
			this.write(old.text);
			this.forget();
		},
		/** Somebody else starts a scrape with the URL of the node. */
		scrape: () => {
			if (this.setting.mode === 'listen') this.addScrape('');
		},
	};

	fail(outage: (typeof OUTAGES)[number], ms: number): void {
		this.note(`${outage} fails for ${String(ms)} ms`);
		this.outages.set(outage, this.clock.now + ms);
	}

	/** From now on all goes well, and the workflow is active. */
	async heal(): Promise<void> {
		this.isHealed = true;
		this.outages.clear();
		this.starts.length = 0;
		for (const name of this.processes.keys()) this.restart(name);
		await this.clock.pass(60_000);
		if (!this.leading) this.lead(this.alive(this.topology.mains)[0]?.name ?? '');
		this.events.activate();
		this.note('healed');
	}
}

export function idOf({ json }: Execution): string {
	return (json.leadGenDelivery as { id: string } | undefined)?.id ?? 'no delivery';
}

function success(data: object): Answer {
	return { status: 200, value: { success: true, data } };
}

function failure(status: number, code: string): Answer {
	return { status, value: { success: false, error: { code, message: code } } };
}

function networkError(code: string, syscall: string): Error {
	return Object.assign(new Error(code), { code, syscall });
}
