import { createHash } from 'node:crypto';
import type {
	IDataObject,
	IExecuteFunctions,
	IHookFunctions,
	INodeExecutionData,
	ITriggerFunctions,
	IWebhookFunctions,
} from 'n8n-workflow';
import type { Process } from './process';
import { networkError, type Answer, type Request, type Scrape } from './service';
import type { Workflow } from './workflow';
import { isInjected, type World } from './world';

const DUE_MINUTES = 7;
/** What an old copy erased is saved again in this time, if nothing goes wrong. */
const REPAIR_MS = 5000;
const PUBLIC = 'https://n8n.example.com';
const SERVICE = 'https://service.example.com';

export interface Execution {
	id: string;
	json: IDataObject;
	/** The process in which it began, if it did, and when its gate began and ended. */
	process?: Process;
	from: number;
	to: number;
	result?: 'passed' | 'dropped' | 'failed';
	/** A fault hit the check of its gate. */
	isUnchecked?: boolean;
	/** A fault ended its gate. */
	isBroken?: boolean;
}

/** A trigger node as n8n has it, with the executions that begin with it. */
export class TriggerNode {
	readonly executions: Execution[] = [];
	readonly scrapes: Scrape[] = [];
	/** Starts that the service may have accepted. */
	sent: Array<{ attempt: string; at: number }> = [];
	/** Calls of the node to its own URL. */
	ownCalls = 0;
	/** Starts that a person or a change of the filters asked for. */
	asked = 0;
	private readonly url: string;
	private processed: string[] | undefined;
	/** Who knows a scrape ID or an attempt, and which of them a crash or an old copy erased everywhere. */
	private readonly holders = new Map<string, Set<Process>>();
	private readonly lost = new Set<string>();
	/** Which of them were saved, and when an old copy erased them. */
	private readonly erasedAt = new Map<string, number>();

	constructor(
		private readonly world: World,
		readonly workflow: Workflow,
		readonly id: string,
		private readonly account: string,
	) {
		workflow.nodes.push(this);
		this.url = `${PUBLIC}/webhook/${id}/leadgen`;
	}

	get identity(): { instanceId: string; workflowId: string; nodeId: string } {
		return { instanceId: 'n8n', workflowId: this.workflow.id, nodeId: this.id };
	}

	// What n8n calls

	async trigger(process: Process, mode: string): Promise<void> {
		const emit = ([items]: INodeExecutionData[][]) => {
			const [item] = items ?? [];
			this.world.call('emit', undefined);
			if (item) this.execute(process, item.json, 'trigger');
		};
		const context = this.context(process, 'trigger', { getActivationMode: () => mode, emit });
		const response = await process.node.trigger?.call(context);
		if (response?.closeFunction) process.onClose(this.workflow, response.closeFunction);
	}

	async hook(
		process: Process,
		name: 'create' | 'delete',
		mode: string,
		methods: object,
	): Promise<void> {
		const context = this.context(process, 'trigger', { ...methods, getActivationMode: () => mode });
		const hook = process.node.webhookMethods?.default?.[name];
		await process.whileAlive(Promise.resolve(hook?.call(context)));
	}

	// What the trigger calls

	private context(process: Process, mode: string, more: object) {
		const { world, workflow } = this;
		const log = () => {
			world.call('logger', undefined);
		};
		const parameters: IDataObject = {
			...{ mode: world.setting.mode, schedule: world.setting.schedule, limit: 5, options: {} },
			...{ cronExpression: `*/${String(DUE_MINUTES)} * * * *`, filtersMode: 'fields' },
			filters: { jobTitles: [`Title ${String(workflow.filters)}`] },
			...{ events: ['completed', 'failed'], output: 'scrape' },
		};
		const context = {
			getNode: () => ({
				...{ id: this.id, name: this.id, webhookId: this.id, parameters },
				...{ type: 'leadGenTrigger', typeVersion: 1, position: [0, 0] },
			}),
			getMode: () => mode,
			getWorkflow: () => ({ id: workflow.id, name: 'Test', active: workflow.isActive }),
			getInstanceId: () => 'n8n',
			getTimezone: () => world.call('time zone', 'UTC'),
			getNodeParameter: (name: string) => world.call('parameter', parameters[name]),
			getNodeWebhookUrl: () => world.call('URL', this.url),
			getCredentials: async () => {
				await process.wait(world.between(0, 3));
				if (world.is('database')) throw new Error('The database is down');
				const credential = { baseUrl: SERVICE, apiKey: this.account, plan: 'enterprise' };
				return world.call('credential', credential);
			},
			logger: { debug: log, info: log, warn: log, error: log },
			helpers: {
				httpRequest: async (request: Request) => {
					this.ownCalls++;
					world.call('request', undefined);
					return await process.whileAlive(this.callItself(process, request));
				},
				httpRequestWithAuthentication: async (_type: string, request: Request) => {
					world.call('request to the service', undefined);
					await process.wait(world.between(1, 50));
					const task = world.service.serve(this, process, request);
					const { status, value } = await process.whileAlive(task);
					return { statusCode: status, headers: {}, body: JSON.stringify(value) };
				},
				checkProcessedAndRecord: async (values: string[]) => {
					world.call('deduplication', undefined);
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

	/** As n8n's deduplication does it: it reads the row, then writes all of it. */
	private async deduplicate(process: Process, values: string[]) {
		const { world } = this;
		await process.wait(world.between(1, 8));
		if (world.is('database')) throw new Error('The database is down');
		const row = this.processed;
		await process.wait(world.between(1, 8));
		if (world.is('database', 'disk')) throw new Error('The database cannot be written');
		if (!row && this.processed) throw new Error('UNIQUE constraint failed');
		const hash = (value: string) => createHash('md5').update(value).digest('base64');
		const fresh = values.filter((value) => !row?.includes(hash(value)));
		this.processed = [...(row ?? []), ...fresh.map(hash)];
		return { new: fresh, processed: values.filter((value) => !fresh.includes(value)) };
	}

	// Executions

	private execute(origin: Process, json: IDataObject, mode: string): void {
		const { world } = this;
		const copy = JSON.parse(JSON.stringify(json)) as IDataObject;
		world.clock.after(world.between(1, 20), () => {
			if (!origin.isAlive) return;
			if (world.is('database', 'disk', 'queue')) {
				world.note('an execution is lost');
				return;
			}
			const id = String(this.executions.length + 1);
			const execution = { id, json: copy, from: 0, to: Infinity };
			this.executions.push(execution);
			this.enqueue(origin, execution, mode);
		});
	}

	/** As a person does with the executions that a crash caught. */
	retryCrashed(): void {
		const { world } = this;
		const crashed = this.executions.filter(
			(each) => each.process?.isAlive === false && !each.result,
		);
		const process = world.oneOf(world.topology.mains);
		for (const { json } of crashed) if (process) this.execute(process, json, 'retry');
	}

	private enqueue(origin: Process, execution: Execution, mode: string): void {
		const { world } = this;
		const { workers } = world.topology;
		world.clock.after(workers.length > 0 ? world.between(5, 500) : world.between(0, 20), () => {
			const process = workers.length > 0 ? world.oneOf(workers) : origin;
			if (!process) this.enqueue(origin, execution, mode);
			else if (process.isAlive) void this.run(process, execution, mode);
		});
	}

	private async run(process: Process, execution: Execution, mode: string): Promise<void> {
		execution.process = process;
		execution.from = this.world.clock.now;
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
				execution.isBroken = isInjected(error);
				return 'failed';
			},
		);
		execution.to = this.world.clock.now;
		this.world.note(`execution ${execution.id} of ${idOf(execution)} ${execution.result}`);
	}

	// Requests to the node's URL

	private async callItself(process: Process, request: Request) {
		const { world } = this;
		const { mains, receivers } = world.topology;
		await process.wait(world.between(1, 20));
		const isPublic = request.url.startsWith(PUBLIC);
		const main = mains.includes(process.name) ? process : undefined;
		const target = isPublic ? world.oneOf(receivers) : main;
		if (!target || target.isStopping || world.is('url'))
			throw networkError('ECONNREFUSED', 'connect');
		const body = JSON.parse(request.body as string) as IDataObject;
		const answer = this.receive(target, { ...request, body });
		const { status, value } = await world.inTime(answer, request.timeout);
		await process.wait(world.between(1, 20));
		const text = JSON.stringify(value);
		this.learn(process, text);
		if (status >= 400) throw new Error(`Request failed with status code ${String(status)}`);
		return text;
	}

	/** A request comes in, and is answered as n8n answers it. */
	async receive(
		process: Process,
		{ headers = {}, query = {}, body }: Pick<Request, 'headers' | 'query' | 'body'>,
	): Promise<Answer> {
		const { world, workflow } = this;
		const isDown = world.is('database');
		const data = workflow.staticData(process);
		return await new Promise((resolve, reject) => {
			process.requests.add(reject);
			const respond = (status: number, value: object) => {
				process.requests.delete(reject);
				const isKnown = status === 200 && !('problem' in value);
				if (isKnown) this.learn(process, this.partOf(data.loaded) + JSON.stringify([value, body]));
				resolve({ status, value });
			};
			const handle = async () => {
				await process.wait(world.is('load') ? world.between(1, 3000) : world.between(1, 30));
				if (isDown) throw new Error('The database is down');
				if (!workflow.isRegistered) {
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
				world.note(`webhook() fails: ${String(error)}`);
				respond(500, {});
			});
		});
	}

	// What is paid for, and who knows what

	/** A start goes out. */
	send(process: Process, attempt: string): void {
		if (this.isErased(attempt)) this.sent = this.sent.filter((each) => each.attempt !== attempt);
		this.sent.push({ attempt, at: this.world.clock.now });
		this.learn(process, attempt, attempt);
		this.checkPaid();
	}

	/** Of what a crash and an old copy erased together, nobody can know. */
	private isErased(attempt: string): boolean {
		const { hasWrittenBack, nodes } = this.workflow;
		return (hasWrittenBack || nodes.length > 1) && !this.isKnown(attempt);
	}

	/** Nothing is paid for twice: no start goes out that nobody asked for. */
	private checkPaid(): void {
		const { world, sent } = this;
		const minutes = world.clock.passed / 60_000;
		const inHours = Math.floor(minutes / 60) * Math.ceil(60 / DUE_MINUTES);
		const isScheduled = world.setting.schedule === 'cron';
		const due = isScheduled ? inHours + Math.floor((minutes % 60) / DUE_MINUTES) : 0;
		const wants = sent.map(({ attempt }) => attempt.replace(/-\d+$/, ''));
		if (new Set(wants).size < wants.length) world.wrong.push(`paid twice for ${wants.join()}`);
		const erased = sent.filter(({ attempt }) => this.isErased(attempt)).length;
		if (wants.length > this.asked + due + erased)
			world.wrong.push('paid for what nobody asked for');
	}

	/** Whether somebody was told a scrape ID or an attempt, and nothing erased it everywhere. */
	isKnown(key: string): boolean {
		return this.holders.has(key) && !this.lost.has(key);
	}

	learn(process: Process, text: string, attempt = ''): void {
		for (const key of [attempt, ...this.scrapes.map(({ id }) => id)]) {
			if (key === '' || !text.includes(key)) continue;
			this.holders.set(key, (this.holders.get(key) ?? new Set()).add(process));
			this.lost.delete(key);
		}
	}

	/** What only a crashed process knew is lost, unless there was time to save it again. */
	forget(): void {
		const { world, workflow } = this;
		const saved = this.partOf(workflow.saved);
		for (const [key, holders] of this.holders) {
			const isHeld = [...holders].some(({ isAlive }) => isAlive) || saved.includes(key);
			const since = Math.max(this.erasedAt.get(key) ?? Infinity, world.calmFrom);
			const isSafe = world.clock.now - since >= REPAIR_MS && !workflow.hasWrittenBack;
			if (!isHeld && !isSafe) this.lost.add(key);
		}
	}

	/** n8n saved the static data. */
	saves(): void {
		const saved = this.partOf(this.workflow.saved);
		for (const key of this.holders.keys()) {
			if (saved.includes(key)) this.erasedAt.set(key, Infinity);
			else if (this.erasedAt.get(key) === Infinity) this.erasedAt.set(key, this.world.clock.now);
		}
	}

	/** What static data holds of this node. */
	private partOf(staticData: string): string {
		const { global = {} } = JSON.parse(staticData) as { global?: IDataObject };
		const isOwn = ([name]: [string, unknown]) => name.includes(this.id);
		return JSON.stringify(Object.entries(global).filter(isOwn));
	}
}

export function idOf({ json }: Execution): string {
	return (json.leadGenDelivery as { id: string } | undefined)?.id ?? 'no delivery';
}
