import { randomUUID } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
	N8nApi,
	type Owner,
	type StoredCredential,
	type StoredWorkflow,
	type WorkflowContent,
	type WorkflowNode,
} from './api';
import { ROOT } from './versions';

/** The account of the playground. It is no secret: n8n listens on the loopback address only. */
export const OWNER: Owner = {
	email: 'demo@example.com',
	password: 'Leadgen-demo-1',
	firstName: 'Demo',
	lastName: 'Owner',
};

/** The API key of the sandbox. */
export const API_KEY = 'test-key';

/** An n8n with the account, the credential and the example workflows. */
export interface Instance {
	api: N8nApi;
	/** The example workflows by file name, without `.json`. */
	examples: Map<string, StoredWorkflow>;
}

/** Brings all that into a running n8n. Workflows that are there from an earlier run stay as they are. */
export async function setUpInstance(url: string, sandboxUrl: string): Promise<Instance> {
	const api = new N8nApi(url);
	await api.signIn(OWNER);
	const data = { baseUrl: sandboxUrl, apiKey: API_KEY };
	const given = { name: 'LeadGen account', type: 'leadGenApi', data };
	const known = (await api.credentials()).find(({ name }) => name === given.name);
	const credential = known
		? await api.updateCredential(known.id, given)
		: await api.createCredential(given);

	const stored = await api.workflows();
	const examples = new Map<string, StoredWorkflow>();
	for (const file of await readdir(EXAMPLES)) {
		const name = file.replace('.json', '');
		const content = await readExample(name, credential);
		const existing = stored.find((each) => each.name === content.name && each.isArchived !== true);
		examples.set(name, existing ?? (await api.createWorkflow(content)));
	}
	return { api, examples };
}

export const EXAMPLES = join(ROOT, 'examples');

/** Nodes with a URL of their own, of which their `webhookId` is a part. */
const WITH_URL = /\.(formTrigger|form|wait|leadGenTrigger|mcpTrigger)$/;

/**
 * An example as it is. Only the credential is filled in, as a person does: a file cannot know the ID that it has in this
 * n8n. And nodes get the parts of their URLs that n8n's editor gives them when it imports a file.
 */
export async function readExample(
	name: string,
	credential?: StoredCredential,
): Promise<WorkflowContent> {
	const text = await readFile(join(EXAMPLES, `${name}.json`), 'utf8');
	const content = JSON.parse(text) as WorkflowContent;
	for (const node of content.nodes) {
		if (node.credentials?.leadGenApi && credential) node.credentials = use(credential);
		if (WITH_URL.test(node.type)) node.webhookId = randomUUID();
		if (node.parameters.path === '') node.parameters.path = node.webhookId;
	}
	return content;
}

/** The `credentials` of a node that uses one. */
export function use({ id, name }: StoredCredential): NonNullable<WorkflowNode['credentials']> {
	return { leadGenApi: { id, name } };
}
