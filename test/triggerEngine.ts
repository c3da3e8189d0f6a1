import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { loadNode, newExecutionData } from './engine';
import {
	DataDeduplicationService,
	HookContext,
	TriggerContext,
	WebhookContext,
	WorkflowExecute,
} from 'n8n-core';
import {
	createRunExecutionData,
	NodeHelpers,
	Workflow,
	type ICredentialDataDecryptedObject,
	type IDataDeduplicator,
	type IDataObject,
	type INode,
	type INodeExecutionData,
	type INodeParameters,
	type INodeType,
	type IRun,
	type ITriggerResponse,
	type IWebhookData,
	type IWebhookResponseData,
	type IWorkflowExecuteAdditionalData,
	type WorkflowActivateMode,
	type WorkflowExecuteMode,
} from 'n8n-workflow';
import { until, useVirtualTime } from './virtualTime';

type Given = Parameters<IDataDeduplicator['removeProcessed']>;

/**
 * n8n's table of what was processed by each node, for the real helpers of n8n-core. As n8n, it reads the whole row of a
 * node, and writes it a moment later. It has what the node uses.
 */
class ProcessedData implements Partial<IDataDeduplicator> {
	/** How long the next writes take, if not a moment; with `Infinity`, the database refuses them. */
	readonly writeMs: number[] = [];
	private readonly rows = new Map<string, Given[0]>();

	/** @returns the row as it was */
	private async change({ workflow, node }: Given[2], to: (row: Given[0]) => Given[0]) {
		const key = `${workflow.id} ${String(node?.id)}`;
		const row = this.rows.get(key) ?? [];
		const ms = this.writeMs.shift() ?? 20;
		if (ms === Infinity) throw new Error('deadlock detected');
		await new Promise((resolve) => setTimeout(resolve, ms));
		this.rows.set(key, to(row));
		return row;
	}

	async checkProcessedAndRecord(...[items, , context]: Given) {
		const known = await this.change(context, (row) => [...row, ...items]);
		const isKnown = (item: Given[0][0]) => known.includes(item);
		return { new: items.filter((item) => !isKnown(item)), processed: items.filter(isKnown) };
	}

	async removeProcessed(...[items, , context]: Given) {
		await this.change(context, (row) => row.filter((item) => !items.includes(item)));
	}
}

export const processed = new ProcessedData();

/** An execution, in the order in which they were begun. */
export interface Execution {
	mode: WorkflowExecuteMode;
	/** What the trigger was given. */
	input: IDataObject;
	status: 'queued' | 'running' | 'success' | 'error' | 'canceled';
	/** What a failed one says, with its advice. */
	error?: string;
	/** The items with which the next nodes run; without any, they do not run. */
	output: IDataObject[];
	hints: string[];
	stop: () => void;
	run?: IRun;
}

/** What surrounds n8n's engine in an n8n with one active workflow: its database, its webhooks, and its executions. */
export class MiniN8n {
	readonly executions: Execution[] = [];
	readonly node: INode;
	/** Answers instead of the webhooks, as a proxy in front of n8n does; with -1, never. */
	front?: (request: IncomingMessage, body: string) => number | undefined;
	/** The body of these answers, and where a redirect leads. */
	frontBody = '';
	/** How many production executions may run at once. */
	slots = Infinity;
	/** Where n8n says that it is reached. */
	publicUrl = '';
	/** Whether n8n has saved that the workflow is active. It may take requests before. */
	isPublished = true;
	private readonly workflowId = crypto.randomUUID();
	private requestCount = 0;
	/** As n8n's database holds it. */
	private staticData = '{}';
	private isActive = false;
	private isListening = false;
	private isClosed = false;
	private triggerResponse: ITriggerResponse | undefined;
	private ticks: Array<(due: Date) => void> = [];
	private readonly server = createServer(
		(request, response) => void this.answer(request, response),
	);
	private url = '';

	/**
	 * @param type leads
	 * @param others answer requests, and run executions, in turn: in queue mode these are other processes
	 */
	constructor(
		private type: INodeType,
		private others: INodeType[],
		public credential: ICredentialDataDecryptedObject,
		parameters: INodeParameters,
		fields: Partial<INode> = {},
	) {
		const id = crypto.randomUUID();
		this.node = {
			...{ id, name: 'LeadGen Trigger', type: 'trigger', typeVersion: 1, position: [0, 0] },
			...{ webhookId: id, credentials: { leadGenApi: { id, name: 'Account' } }, parameters: {} },
			...fields,
		};
		this.parameters = parameters;
	}

	/** Those that the user set, and the defaults of the others. */
	set parameters(given: INodeParameters) {
		const { description } = this.type;
		const all = [given, true, false, this.node, description] as const;
		this.node.parameters = NodeHelpers.getNodeParameters(description.properties, ...all) ?? {};
	}

	async open(): Promise<void> {
		await once(this.server.listen(0, '127.0.0.1'), 'listening');
		this.url = `http://127.0.0.1:${String((this.server.address() as AddressInfo).port)}/`;
	}

	async close(): Promise<void> {
		this.isClosed = true;
		if (this.isActive) await this.deactivate();
		for (const { stop } of this.executions) stop();
		this.server.closeAllConnections();
		this.server.close();
	}

	/**
	 * As n8n 1: the hooks, then `trigger()`. What the hooks write is saved if all is through.
	 * @param isTriggerFirst as it may be on n8n 2, which runs both side by side
	 */
	async activate(mode: WorkflowActivateMode = 'activate', isTriggerFirst = false): Promise<void> {
		const workflow = this.workflow(true);
		const given = this.given(workflow, 'trigger', mode);
		const create = async () =>
			await this.type.webhookMethods?.default?.create.call(new HookContext(...given));
		if (!isTriggerFirst) await create();
		this.isActive = true;
		const emit = ([items = []]: INodeExecutionData[][]) => {
			this.begin('trigger', items);
		};
		const registerCron = (_cron: object, tick: (due: Date) => void) => this.ticks.push(tick);
		const helpers = [undefined, undefined, { registerCron } as never] as const;
		const context = new TriggerContext(...given, emit, ...helpers);
		this.triggerResponse = await this.type.trigger?.call(context);
		if (isTriggerFirst) await create();
		this.save(workflow);
	}

	/** n8n calls `delete` for a deactivation, and for a save. */
	async deactivate(): Promise<void> {
		const workflow = this.workflow(true);
		const hook = new HookContext(...this.given(workflow, 'internal', 'update'));
		this.isActive = false;
		await this.type.webhookMethods?.default?.delete.call(hook);
		this.save(workflow);
		await this.triggerResponse?.closeFunction?.();
		this.ticks = [];
	}

	/** n8n starts again, as another process. */
	async restart(): Promise<void> {
		this.type = loadElsewhere();
		this.others = [this.type];
		this.ticks = [];
		await this.activate('init', true);
	}

	/** A user saves or publishes the workflow while it is active. */
	async saveWorkflow(): Promise<void> {
		await this.deactivate();
		await this.activate('update');
	}

	/** A user unpublishes the workflow, and publishes it again. */
	async reactivate(): Promise<void> {
		await this.deactivate();
		await this.activate();
	}

	/** Selects Execute step. n8n listens until the node has an output. @throws what n8n shows */
	async executeStep(): Promise<void> {
		const given = this.given(this.workflow(false), 'manual', 'manual');
		this.isListening = true;
		const hook = new HookContext(...given, { isTest: true } as IWebhookData);
		await this.type.webhookMethods?.default?.create.call(hook);
	}

	/** n8n stops listening: a user selects Stop, or two minutes are over. */
	async stopListening(): Promise<void> {
		const given = this.given(this.workflow(false), 'manual', 'manual');
		this.isListening = false;
		const hook = new HookContext(...given, { isTest: true } as IWebhookData);
		await this.type.webhookMethods?.default?.delete.call(hook);
	}

	/** The cron of the node. */
	due(time: Date): void {
		for (const tick of this.ticks) tick(time);
	}

	/** Selects Retry at an execution: it begins with the same input. */
	retry(execution: number): void {
		const leadGenTrigger = this.executions[execution]?.input;
		this.begin('retry', [{ json: { leadGenTrigger } }]);
	}

	/** Where anyone sends requests to the node. */
	get productionUrl(): string {
		const path = NodeHelpers.getNodeWebhookPath(this.workflowId, this.node, 'leadgen');
		return `${this.url}webhook/${path}`;
	}

	/** What is saved of the nodes. */
	get saved(): string {
		const { global = {} } = JSON.parse(this.staticData) as { global?: object };
		return Object.values(global).join();
	}

	/** Another node saves the static data as it was before the activation. */
	forget(): void {
		this.staticData = '{}';
	}

	private begin(mode: WorkflowExecuteMode, items: INodeExecutionData[]): void {
		const input = (items[0]?.json.leadGenTrigger ?? {}) as IDataObject;
		const status = 'queued' as const;
		const execution: Execution = { mode, input, status, output: [], hints: [], stop() {} };
		this.executions.push(execution);
		void this.execute(execution, items);
	}

	private async execute(execution: Execution, items: INodeExecutionData[]): Promise<void> {
		const running = () => this.executions.filter(({ status }) => status === 'running').length;
		const isFirst = () => this.executions.find(({ status }) => status === 'queued') === execution;
		const mayRun = () => running() < this.slots && isFirst();
		await until(() => this.isClosed || mayRun(), 'the execution has a slot');
		if (this.isClosed) return;
		execution.status = 'running';
		const workflow = this.workflow(this.isActive, this.executions.indexOf(execution) + 1);
		const stack = [{ node: this.node, data: { main: [items] }, source: null }];
		const data = createRunExecutionData({ executionData: { nodeExecutionStack: stack } });
		const runner = new WorkflowExecute(this.data(workflow, execution.mode), execution.mode, data);
		await workflow.expression.acquireIsolate();
		const running_ = runner.processRunExecutionData(workflow);
		execution.stop = () => {
			running_.cancel();
		};
		const run = await running_;
		const { runData, error } = run.data.resultData;
		execution.run = run;
		const [ran] = runData[this.node.name] ?? [];
		execution.hints = (ran?.hints ?? []).map(({ message }) => message);
		execution.output = (ran?.data?.main?.[0] ?? []).map(({ json }) => json);
		if (error) execution.error = `${error.message}. ${error.description ?? ''}`;
		// n8n saves the static data of an execution that changed it.
		if (workflow.staticData.__dataChanged) this.save(workflow);
		execution.status = run.status === 'canceled' ? 'canceled' : error ? 'error' : 'success';
	}

	private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
		const rawBody = await buffer(request);
		const { pathname, searchParams } = new URL(request.url ?? '', this.url);
		const isTest = pathname.startsWith('/webhook-test/');
		const isOwn = new URL(this.productionUrl).pathname === pathname.replace('-test', '');
		const isThere = isOwn && (isTest ? this.isListening : this.isActive);
		const status = this.front?.(request, rawBody.toString()) ?? (isThere ? 0 : 404);
		if (status < 0) return;
		if (status !== 0) {
			response.writeHead(status, { location: this.frontBody }).end(this.frontBody);
			return;
		}
		const isJson = request.headers['content-type']?.includes('json');
		const httpRequest = Object.assign(request, {
			...{ rawBody, originalUrl: request.url, query: Object.fromEntries(searchParams), params: {} },
			// n8n reads no body of a content type that it does not know.
			body: isJson ? (JSON.parse(rawBody.toString()) as object) : {},
		});
		const httpResponse = {
			status: (code: number) => ({
				json: (body: object) => response.writeHead(code).end(JSON.stringify(body)),
			}),
		};
		const type = this.others[this.requestCount++ % this.others.length];
		const workflow = this.workflow(!isTest && this.isPublished);
		const mode = isTest ? 'manual' : 'webhook';
		const data = Object.assign(this.data(workflow, mode), { httpRequest, httpResponse });
		const [webhookDescription] = this.type.description.webhooks ?? [];
		const webhook = { webhookDescription, isTest } as IWebhookData;
		const context = new WebhookContext(workflow, this.node, data, mode, webhook, [], null);
		const result: IWebhookResponseData = (await type?.webhook?.call(context)) ?? {};
		const { workflowData, noWebhookResponse } = result;
		if (workflowData) {
			this.isListening &&= !isTest;
			this.begin(mode, workflowData[0] ?? []);
		}
		// n8n 2 loses what a request writes that begins an execution.
		else if (!isTest) this.save(workflow);
		if (!noWebhookResponse) response.writeHead(200).end(JSON.stringify(result.webhookResponse));
	}

	/** What each call of the node is given. */
	private given(workflow: Workflow, mode: WorkflowExecuteMode, activation: WorkflowActivateMode) {
		return [workflow, this.node, this.data(workflow, mode), mode, activation] as const;
	}

	/** The workflow, fresh from the database. */
	private workflow(active: boolean, process = 0): Workflow {
		const getByName = () => this.others[process % this.others.length] ?? this.type;
		const nodeTypes = { getByName, getByNameAndVersion: getByName, getKnownTypes: () => ({}) };
		return new Workflow({
			...{ id: this.workflowId, active, nodeTypes, settings: { executionOrder: 'v1' } },
			nodes: [structuredClone(this.node)],
			connections: {},
			staticData: JSON.parse(this.staticData) as IDataObject,
		});
	}

	private save({ staticData }: Workflow): void {
		this.staticData = JSON.stringify(staticData);
	}

	private data(workflow: Workflow, mode: WorkflowExecuteMode): IWorkflowExecuteAdditionalData {
		return {
			...newExecutionData(workflow, mode, this.credential),
			webhookBaseUrl: `${this.publicUrl || this.url}webhook`,
			webhookTestBaseUrl: `${this.url}webhook-test`,
		};
	}
}

/** The node as another process loads it, which shares nothing with this one. */
function loadElsewhere(): INodeType {
	const path = '../dist/nodes/LeadGen/LeadGenTrigger.node.js';
	let type: INodeType | undefined;
	jest.isolateModules(() => {
		const { LeadGenTrigger } = jest.requireActual<Record<string, new () => INodeType>>(path);
		type = LeadGenTrigger && new LeadGenTrigger();
	});
	return type as unknown as INodeType;
}

/** Whether one process does all, or two workers take turns beside the main process. */
export type Processes = 'one' | 'workers';

/** An n8n for each test with the trigger, in virtual time. Closes it after the test. */
export function useMiniN8n() {
	useVirtualTime();
	let all: MiniN8n[] = [];
	beforeAll(async () => {
		await DataDeduplicationService.init(
			processed as Partial<IDataDeduplicator> as IDataDeduplicator,
		);
	});
	afterEach(async () => {
		for (const n8n of all) await n8n.close();
		all = [];
	});
	return async (
		processes: Processes,
		...given: [ICredentialDataDecryptedObject, INodeParameters, Partial<INode>?]
	) => {
		const type = await loadNode('leadGenTrigger');
		const others = processes === 'one' ? [type] : [loadElsewhere(), loadElsewhere()];
		const n8n = new MiniN8n(type, others, ...given);
		await n8n.open();
		all.push(n8n);
		return n8n;
	};
}
