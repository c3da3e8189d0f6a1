import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// Before n8n-core is loaded: it writes its key to the user folder.
const userFolder = mkdtempSync(join(tmpdir(), 'leadgen-engine-'));
process.env.N8N_USER_FOLDER = userFolder;
afterAll(() => {
	rmSync(userFolder, { recursive: true, force: true });
});

import { CredentialTestContext, ExecuteContext } from 'n8n-core';
import {
	Workflow,
	createEmptyRunExecutionData,
	type ICredentialDataDecryptedObject,
	type INode,
	type INodeCredentialTestResult,
	type INodeParameters,
	type INodeType,
} from 'n8n-workflow';
import {
	loadCredential,
	loadNode,
	newExecutionData,
	runLeadGen,
	type NodeResult,
	type NodeRun,
} from '../lab/playground/engine';

export { loadCredential, loadNode, newExecutionData, runLeadGen };
export type { NodeResult, NodeRun };

/** The hints of each run of the node. */
export function hintsOf({ run }: NodeResult) {
	return (run.data.resultData.runData.LeadGen ?? []).map(({ hints = [] }) => hints);
}

/** The same with their kind, of all runs. */
export function hintTexts(result: NodeResult): string[] {
	return hintsOf(result)
		.flat()
		.map(({ type = '', message }) => `${type}: ${message}`);
}

const account = { id: '1', name: 'Account' };

/** A workflow of a single node. */
export function workflowOf(type: INodeType, parameters: INodeParameters = {}) {
	const node: INode = {
		...{ id: '1', name: 'LeadGen', type: type.description.name, typeVersion: 1 },
		...{ position: [0, 0], parameters, credentials: { leadGenApi: account } },
	};
	const getByName = () => type;
	const nodeTypes = { getByName, getByNameAndVersion: getByName, getKnownTypes: () => ({}) };
	const workflow = new Workflow({ nodes: [node], connections: {}, active: false, nodeTypes });
	return { node, workflow };
}

type Request = (this: unknown, credentialType: string, options: object) => Promise<unknown>;

/** The helpers with which nodes make requests with the credential; n8n's HTTP Request node uses the older one. */
export async function requestHelpers(data: ICredentialDataDecryptedObject) {
	const { node, workflow } = workflowOf(await loadNode('leadGen'));
	const context = new ExecuteContext(
		workflow,
		node,
		newExecutionData(workflow, 'internal', data),
		'internal',
		createEmptyRunExecutionData(),
		0,
		[],
		{},
		{ node, data: {}, source: null },
		[],
	);
	const helpers = context.helpers as unknown as Record<string, Request | undefined>;
	const helper = (name: string) => async (options: object) =>
		await helpers[name]?.call(context, 'leadGenApi', options);
	return {
		httpRequest: helper('httpRequestWithAuthentication'),
		request: helper('requestWithAuthentication'),
	};
}

/** What a person sees who tests the credential: n8n runs the function that the node names. */
export async function testCredential(
	data: ICredentialDataDecryptedObject,
): Promise<INodeCredentialTestResult> {
	const { description, methods } = await loadNode('leadGen');
	const { testedBy } = description.credentials?.[0] ?? {};
	const test = typeof testedBy === 'string' ? methods?.credentialTest?.[testedBy] : undefined;
	if (!test) throw new Error('The credential has no test');
	return await test.call(new CredentialTestContext(), { ...account, type: 'leadGenApi', data });
}
