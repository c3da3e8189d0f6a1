import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// Before n8n-core is loaded: it writes its key to the user folder.
const userFolder = mkdtempSync(join(tmpdir(), 'leadgen-engine-'));
process.env.N8N_USER_FOLDER = userFolder;
afterAll(() => {
	rmSync(userFolder, { recursive: true, force: true });
});

import 'reflect-metadata';
import {
	ExecuteContext,
	ExecutionLifecycleHooks,
	PackageDirectoryLoader,
	RoutingNode,
	WorkflowExecute,
	type Credentials,
} from 'n8n-core';
import {
	ICredentialsHelper,
	NodeConnectionTypes,
	NodeHelpers,
	Workflow,
	createEmptyRunExecutionData,
	type IBinaryKeyData,
	type ICredentialDataDecryptedObject,
	type IDataObject,
	type IHttpRequestOptions,
	type INode,
	type INodeExecutionData,
	type INodeParameters,
	type INodeProperties,
	type INodeType,
	type INodeTypes,
	type IRun,
	type IWorkflowExecuteAdditionalData,
	type OnError,
	type WorkflowExecuteMode,
} from 'n8n-workflow';

const PACKAGE = 'n8n-nodes-leadgen';

const loader = new PackageDirectoryLoader(join(__dirname, '..'));
const loaded = loader.loadAll();

/** A node class as n8n's own loader reads it from the built package. */
export async function loadNode(name: string): Promise<INodeType> {
	await loaded;
	return loader.getNode(name).type as INodeType;
}

/** A credential class as n8n's own loader reads it from the built package. */
export async function loadCredential(name: string) {
	await loaded;
	return loader.getCredential(name).type;
}

/** Brings the items in; the engine takes them from the pinned data. */
class Input implements INodeType {
	description = {
		displayName: 'Input',
		name: 'input',
		group: ['trigger' as const],
		version: 1,
		description: 'Input of the test',
		defaults: { name: 'Input' },
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		properties: [],
	};
}

const nodeTypes: INodeTypes = {
	getByName: (type) => nodeTypes.getByNameAndVersion(type),
	getByNameAndVersion: (type) =>
		type === 'test.input'
			? new Input()
			: (loader.getNode(type.replace(`${PACKAGE}.`, '')).type as INodeType),
	getKnownTypes: () => ({}),
};

/** Stands for n8n's credential store: one credential, whose class adds the key to each request. */
class CredentialStore extends ICredentialsHelper {
	constructor(private readonly data: ICredentialDataDecryptedObject) {
		super();
	}

	getParentTypes(): string[] {
		return [];
	}

	isCredentialUsableByNode(): boolean {
		return true;
	}

	async authenticate(
		credentials: ICredentialDataDecryptedObject,
		type: string,
		request: IHttpRequestOptions,
	): Promise<IHttpRequestOptions> {
		const { authenticate } = loader.getCredential(type).type;
		if (typeof authenticate !== 'function') throw new Error(`${type} has no authenticate()`);
		return await authenticate(credentials, request);
	}

	preAuthentication(): Promise<undefined> {
		return Promise.resolve(undefined);
	}

	runPreAuthentication(): Promise<undefined> {
		return Promise.resolve(undefined);
	}

	getCredentials(): Promise<Credentials> {
		throw new Error('not needed');
	}

	async getDecrypted(): Promise<ICredentialDataDecryptedObject> {
		return await Promise.resolve(this.data);
	}

	async updateCredentials(): Promise<void> {}

	async updateCredentialsOauthTokenData(): Promise<void> {}

	getCredentialsProperties(type: string): INodeProperties[] {
		return loader.getCredential(type).type.properties;
	}
}

/** What a test gives the node. */
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
	executionId?: string;
	mode?: WorkflowExecuteMode;
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

let executions = 0;

/** Runs the LeadGen node in a workflow on the real engine, as an execution of its own. */
export async function runLeadGen(options: NodeRun): Promise<NodeResult> {
	await loaded;
	const type = nodeTypes.getByNameAndVersion(`${PACKAGE}.leadGen`);
	const node: INode = {
		id: 'node-1',
		name: 'LeadGen',
		type: `${PACKAGE}.leadGen`,
		typeVersion: 1,
		position: [200, 0],
		parameters: {},
		credentials: { leadGenApi: { id: '1', name: 'Account' } },
		...(options.onError && { onError: options.onError }),
		...(options.retryOnFail && { retryOnFail: true, maxTries: 3, waitBetweenTries: 10 }),
	};
	node.parameters =
		NodeHelpers.getNodeParameters(
			type.description.properties,
			options.parameters,
			true,
			false,
			node,
			type.description,
		) ?? {};
	const workflow = new Workflow({
		id: 'workflow-1',
		name: 'Test',
		active: false,
		nodeTypes,
		nodes: [
			{
				id: 'node-0',
				name: 'Input',
				type: 'test.input',
				typeVersion: 1,
				position: [0, 0],
				parameters: {},
			},
			node,
		],
		connections: { Input: { main: [[{ node: 'LeadGen', type: 'main', index: 0 }]] } },
		settings: { executionOrder: 'v1' },
	});
	const mode = options.mode ?? 'manual';
	const execution = new WorkflowExecute(additionalData(options, mode, workflow), mode);
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

/** What a person sees who tests the credential: n8n sends the request of its `test` and applies its rules. */
export async function testCredential(
	data: ICredentialDataDecryptedObject,
): Promise<{ status: 'OK' | 'Error'; message: string }> {
	await loaded;
	const { test } = loader.getCredential('leadGenApi').type;
	if (!test) throw new Error('The credential has no test');
	const account = { id: '1', name: 'Account' };
	const node: INode = {
		id: 'temp',
		name: 'Temp-Node',
		type: 'test.input',
		typeVersion: 1,
		position: [0, 0],
		parameters: {},
		credentials: { leadGenApi: account },
	};
	const type = new Input();
	const testType: INodeType = {
		description: {
			...type.description,
			credentials: [{ name: 'leadGenApi', required: true }],
			properties: [
				{
					displayName: 'Temp',
					name: 'temp',
					type: 'string',
					routing: { request: test.request },
					default: '',
				},
			],
		},
	};
	const testTypes: INodeTypes = {
		getByName: () => testType,
		getByNameAndVersion: () => testType,
		getKnownTypes: () => ({}),
	};
	const workflow = new Workflow({
		nodes: [node],
		connections: {},
		active: false,
		nodeTypes: testTypes,
	});
	const run = { baseUrl: '', credential: data, parameters: {}, items: [] };
	const context = new ExecuteContext(
		workflow,
		node,
		additionalData(run, 'internal', workflow),
		'internal',
		createEmptyRunExecutionData(),
		0,
		[],
		{ main: [[{ json: {} }]] },
		{ node, data: {}, source: null },
		[],
	);
	const routing = new RoutingNode(context, testType, { ...account, type: 'leadGenApi', data });
	await workflow.expression.acquireIsolate();
	try {
		const answer = (await routing.runNode())?.[0]?.[0]?.json;
		for (const rule of test.rules ?? []) {
			if (rule.type !== 'responseSuccessBody') continue;
			const { key, message } = rule.properties;
			const value: unknown = rule.properties.value;
			if (valueAt(answer, key) === value) return { status: 'Error', message };
		}
		return { status: 'OK', message: 'Connection successful!' };
	} catch (error) {
		const { message, cause } = error as {
			message: string;
			cause?: { code?: string; response?: { status: number; statusText: string } };
		};
		if (!cause?.response) return { status: 'Error', message: cause?.code ?? message };
		const { status, statusText } = cause.response;
		for (const rule of test.rules ?? []) {
			if (rule.type === 'responseCode' && rule.properties.value === status) {
				return { status: 'Error', message: rule.properties.message };
			}
		}
		return {
			status: 'Error',
			message: statusText || `Received HTTP status code: ${String(status)}`,
		};
	} finally {
		await workflow.expression.releaseIsolate();
	}
}

/** The value at a path such as `data.credits`. */
function valueAt(object: unknown, path: string): unknown {
	return path
		.split('.')
		.reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], object);
}

function resultOf(run: IRun): NodeResult {
	const task = run.data.resultData.runData.LeadGen?.[0];
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

function additionalData(
	options: NodeRun,
	mode: WorkflowExecuteMode,
	workflow: Workflow,
): IWorkflowExecuteAdditionalData {
	const executionId = options.executionId ?? `execution-${String(++executions)}`;
	const url = 'http://127.0.0.1:5678/';
	const unused = () => {
		throw new Error('not needed');
	};
	return {
		credentialsHelper: new CredentialStore({
			baseUrl: options.baseUrl,
			apiKey: 'test-key',
			plan: 'auto',
			requestsPerMinute: 0,
			...options.credential,
		}),
		executionId,
		hooks: new ExecutionLifecycleHooks(mode, executionId, {
			id: 'workflow-1',
			name: 'Test',
			active: false,
			isArchived: false,
			createdAt: new Date(),
			updatedAt: new Date(),
			nodes: Object.values(workflow.nodes),
			connections: workflow.connectionsBySourceNode,
			activeVersionId: null,
		}),
		currentNodeExecutionIndex: 0,
		restApiUrl: url,
		instanceBaseUrl: url,
		formBaseUrl: url,
		formWaitingBaseUrl: url,
		formTestBaseUrl: url,
		webhookBaseUrl: url,
		webhookWaitingBaseUrl: url,
		webhookTestBaseUrl: url,
		mcpBaseUrl: url,
		mcpTestBaseUrl: url,
		variables: {},
		executeWorkflow: unused,
		getRunExecutionData: unused,
		getRuntimeCredential: unused,
		startRunnerTask: unused,
		logAiEvent: () => {},
	} as unknown as IWorkflowExecuteAdditionalData;
}
