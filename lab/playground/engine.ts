/**
 * Runs nodes on n8n's engine, without n8n around it. Set N8N_USER_FOLDER before this is loaded: n8n-core
 * writes its key there at once.
 */
import 'reflect-metadata';
import { ExecutionLifecycleHooks, PackageDirectoryLoader, WorkflowExecute } from 'n8n-core';
import {
	NodeConnectionTypes,
	NodeHelpers,
	Workflow,
	type IBinaryKeyData,
	type IConnections,
	type ICredentialDataDecryptedObject,
	type ICredentialsHelper,
	type IDataObject,
	type IExecuteFunctions,
	type IHttpRequestOptions,
	type INode,
	type INodeExecutionData,
	type INodeParameters,
	type INodeType,
	type INodeTypes,
	type IRun,
	type IWorkflowBase,
	type IWorkflowExecuteAdditionalData,
	type OnError,
	type WorkflowExecuteMode,
} from 'n8n-workflow';

const PACKAGE = 'n8n-nodes-leadgen';

/** Brings the items in; the engine takes them from the pinned data. */
export class Input implements INodeType {
	description = {
		displayName: 'Input',
		name: 'input',
		group: ['trigger' as const],
		version: 1,
		description: 'Brings items in',
		defaults: { name: 'Input' },
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		properties: [],
	};
}

/** Gives out its items one by one, as n8n's Loop Over Items does; what comes back ends up on its first output. */
class Loop implements INodeType {
	description = {
		...new Input().description,
		displayName: 'Loop',
		name: 'loop',
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main, NodeConnectionTypes.Main],
	};

	execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		const state = this.getContext('node') as {
			left?: INodeExecutionData[];
			done: INodeExecutionData[];
		};
		if (state.left) state.done.push(...this.getInputData());
		else [state.left, state.done] = [[...this.getInputData()], []];
		const next = state.left.shift();
		return Promise.resolve(next ? [[], [next]] : [state.done, []]);
	}
}

const OWN_NODES: Record<string, INodeType | undefined> = {
	'playground.input': new Input(),
	'playground.loop': new Loop(),
};

/** What n8n-core asks of n8n's credential store: here one with one credential, whose class adds the key to each request. */
function credentialStore(loader: PackageDirectoryLoader, data: ICredentialDataDecryptedObject) {
	const store: Partial<ICredentialsHelper> = {
		getParentTypes: () => [],
		isCredentialUsableByNode: () => true,
		getCredentialsProperties: (type) => loader.getCredential(type).type.properties,
		preAuthentication: () => Promise.resolve(undefined),
		async authenticate(credentials, type, request) {
			const { authenticate } = loader.getCredential(type).type;
			if (typeof authenticate !== 'function') throw new Error(`${type} has no authenticate()`);
			return await authenticate(credentials, request as IHttpRequestOptions);
		},
		/** Resolves the expressions of the credential for an item, as n8n does. */
		async getDecrypted(...[, , , mode, executeData, , values]) {
			if (!values) return await Promise.resolve(data);
			const { workflow, runExecutionData, runIndex, itemIndex, node, connectionInputData } = values;
			const item = [runExecutionData, runIndex, itemIndex, node.name, connectionInputData] as const;
			return workflow.expression.getParameterValue(
				data as INodeParameters,
				...item,
				...([mode, {}, executeData, false, data] as const),
			) as ICredentialDataDecryptedObject;
		},
	};
	return store;
}

/** What the node is given. */
export interface NodeRun {
	/** Base address of the service. */
	baseUrl: string;
	/** Further fields of the credential. */
	credential?: ICredentialDataDecryptedObject;
	parameters: INodeParameters;
	/** The fields of each incoming item. */
	items: IDataObject[];
	/** Files that each incoming item has. */
	binary?: IBinaryKeyData;
	onError?: OnError;
	retryOnFail?: boolean;
	/** As n8n 2 runs the node for an AI agent: like any other node, with a type of its own. */
	isTool?: boolean;
	/** Whether a loop gives the items to the node one by one. */
	isInLoop?: boolean;
	executionId?: string;
	/** Called with a function that presses Stop. */
	onStart?: (stop: () => void) => void;
}

/** What came out of the node. */
export interface NodeResult {
	/** Items on the regular output, the first one if there are several. */
	items: INodeExecutionData[];
	/** Items on every output. */
	outputs: INodeExecutionData[][];
	/** Items on the error output, where the node has one. */
	errorItems: INodeExecutionData[];
	/** What a person sees if the node failed as a whole. */
	error?: { message: string; description?: string | null; context: IDataObject; httpCode?: string };
	/** All that n8n keeps of the execution, as text. */
	record: string;
	run: IRun;
}

const WORKFLOW = { id: 'workflow-1', name: 'Test', active: false };

const nodeOf = (id: string, name: string, type: string): INode => {
	return { id, name, type, typeVersion: 1, position: [0, 0], parameters: {} };
};

const to = (node: string) => [{ node, type: NodeConnectionTypes.Main, index: 0 }];

const STRAIGHT: IConnections = { Input: { main: [to('LeadGen')] } };
const IN_LOOP: IConnections = {
	Input: { main: [to('Loop')] },
	Loop: { main: [[], to('LeadGen')] },
	LeadGen: { main: [to('Loop'), to('Loop')] },
};

/** n8n's own engine, with the nodes and the credential of a built package. */
export class Engine {
	readonly loader: PackageDirectoryLoader;
	private readonly loaded: Promise<void>;
	private executions = 0;

	/** @param folder of the package */
	constructor(folder: string) {
		this.loader = new PackageDirectoryLoader(folder);
		this.loaded = this.loader.loadAll();
	}

	/** A node class as n8n's own loader reads it. */
	async loadNode(name: string): Promise<INodeType> {
		await this.loaded;
		return this.loader.getNode(name).type as INodeType;
	}

	/** A credential class as n8n's own loader reads it. */
	async loadCredential(name: string) {
		await this.loaded;
		return this.loader.getCredential(name).type;
	}

	private async nodeTypes(): Promise<INodeTypes> {
		await this.loaded;
		const getByNameAndVersion = (type: string) => {
			const name = type.replace(`${PACKAGE}.`, '').replace(/Tool$/, '');
			return OWN_NODES[type] ?? (this.loader.getNode(name).type as INodeType);
		};
		return { getByName: getByNameAndVersion, getByNameAndVersion, getKnownTypes: () => ({}) };
	}

	/** Runs the LeadGen node in a workflow, as an execution of its own. */
	async runLeadGen(options: NodeRun): Promise<NodeResult> {
		const nodeTypes = await this.nodeTypes();
		const { description } = nodeTypes.getByNameAndVersion(`${PACKAGE}.leadGen`);
		const type = `${PACKAGE}.leadGen${options.isTool ? 'Tool' : ''}`;
		const node: INode = {
			...nodeOf('node-1', 'LeadGen', type),
			credentials: { leadGenApi: { id: '1', name: 'Account' } },
			...(options.onError && { onError: options.onError }),
			...(options.retryOnFail && { retryOnFail: true, maxTries: 3, waitBetweenTries: 10 }),
		};
		const { properties } = description;
		const given = [options.parameters, true, false, node, description] as const;
		node.parameters = NodeHelpers.getNodeParameters(properties, ...given) ?? {};
		const workflow = new Workflow({
			...WORKFLOW,
			nodeTypes,
			nodes: [
				nodeOf('node-0', 'Input', 'playground.input'),
				node,
				nodeOf('node-2', 'Loop', 'playground.loop'),
			],
			connections: options.isInLoop ? IN_LOOP : STRAIGHT,
			settings: { executionOrder: 'v1' },
		});
		const data = this.additionalData(options, 'manual', workflow);
		const execution = new WorkflowExecute(data, 'manual');
		await workflow.expression.acquireIsolate();
		const running = execution.run({
			workflow,
			startNode: workflow.getNode('Input') ?? undefined,
			pinData: { Input: options.items.map((json) => ({ json, binary: options.binary })) },
		});
		options.onStart?.(() => {
			running.cancel();
		});
		const run = await running;
		await workflow.expression.releaseIsolate();
		return resultOf(run);
	}

	/** What n8n gives an execution beside the workflow. */
	additionalData(
		options: NodeRun,
		mode: WorkflowExecuteMode,
		workflow: Workflow,
	): IWorkflowExecuteAdditionalData {
		const executionId = options.executionId ?? `execution-${String(++this.executions)}`;
		const url = 'http://127.0.0.1:5678/';
		const { nodes, connectionsBySourceNode: connections } = workflow;
		const workflowData = { ...WORKFLOW, nodes: Object.values(nodes), connections } as IWorkflowBase;
		return {
			credentialsHelper: credentialStore(this.loader, {
				baseUrl: options.baseUrl,
				apiKey: 'test-key',
				plan: 'auto',
				requestsPerMinute: 0,
				...options.credential,
			}),
			executionId,
			hooks: new ExecutionLifecycleHooks(mode, executionId, workflowData),
			currentNodeExecutionIndex: 0,
			formWaitingBaseUrl: url,
			webhookWaitingBaseUrl: url,
			variables: {},
		} as unknown as IWorkflowExecuteAdditionalData;
	}
}

function resultOf(run: IRun): NodeResult {
	const { LeadGen } = run.data.resultData.runData;
	const [task] = LeadGen ?? [];
	const outputs = (task?.data?.main ?? []).map((items) => items ?? []);
	const [items = [], errorItems = []] = outputs;
	return {
		items,
		outputs,
		errorItems,
		error: run.data.resultData.error as NodeResult['error'],
		record: JSON.stringify(run),
		run,
	};
}
