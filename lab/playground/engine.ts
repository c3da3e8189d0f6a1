/**
 * Runs the nodes of the built package on n8n's engine, without n8n around it. Set N8N_USER_FOLDER before this is
 * loaded: n8n-core writes its key there at once.
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
import { ROOT } from './versions';

const PACKAGE = 'n8n-nodes-leadgen';

const loader = new PackageDirectoryLoader(ROOT);
const loaded = loader.loadAll();

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

/** What n8n-core asks of n8n's credential store: here one credential, whose class adds the key to each request. */
function credentialStore(data: ICredentialDataDecryptedObject) {
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

/** A node class as n8n's own loader reads it. */
export async function loadNode(name: string): Promise<INodeType> {
	await loaded;
	return loader.getNode(name).type as INodeType;
}

/** A credential class as n8n's own loader reads it. */
export async function loadCredential(name: string) {
	await loaded;
	return loader.getCredential(name).type;
}

/** n8n gives a node that is a tool of an agent a type of its own. */
const getByNameAndVersion = (type: string) =>
	OWN_NODES[type] ??
	(loader.getNode(type.replace(`${PACKAGE}.`, '').replace(/Tool$/, '')).type as INodeType);
const nodeTypes: INodeTypes = {
	getByName: getByNameAndVersion,
	getByNameAndVersion,
	getKnownTypes: () => ({}),
};

/** Runs the LeadGen node in a workflow, as an execution of its own. */
export async function runLeadGen(options: NodeRun): Promise<NodeResult> {
	const { description } = await loadNode('leadGen');
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
	const credential = { baseUrl: options.baseUrl, ...options.credential };
	const data = newExecutionData(workflow, 'manual', credential, options.executionId);
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

let executions = 0;

/**
 * What n8n gives an execution beside the workflow.
 * @param credential what differs from that of an account whose plan the service says
 */
export function newExecutionData(
	workflow: Workflow,
	mode: WorkflowExecuteMode,
	credential: ICredentialDataDecryptedObject,
	executionId = `execution-${String(++executions)}`,
): IWorkflowExecuteAdditionalData {
	const url = 'http://127.0.0.1:5678/';
	const { nodes, connectionsBySourceNode: connections } = workflow;
	const workflowData = { ...WORKFLOW, nodes: Object.values(nodes), connections } as IWorkflowBase;
	const defaults = { baseUrl: '', apiKey: 'test-key', plan: 'auto', requestsPerMinute: 0 };
	return {
		credentialsHelper: credentialStore({ ...defaults, ...credential }),
		executionId,
		hooks: new ExecutionLifecycleHooks(mode, executionId, workflowData),
		currentNodeExecutionIndex: 0,
		formWaitingBaseUrl: url,
		webhookWaitingBaseUrl: url,
		variables: {},
	} as unknown as IWorkflowExecuteAdditionalData;
}

function resultOf(run: IRun): NodeResult {
	const { LeadGen } = run.data.resultData.runData;
	const outputs = (LeadGen?.[0]?.data?.main ?? []).map((items) => items ?? []);
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
