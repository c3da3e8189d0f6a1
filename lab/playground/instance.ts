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
import { ROOT, type N8nLine } from './versions';

/** The account of the playground. It is no secret: n8n listens on the loopback address only. */
export const OWNER: Owner = {
	email: 'demo@example.com',
	password: 'Leadgen-demo-1',
	firstName: 'Demo',
	lastName: 'Owner',
};

/** The API key of the sandbox. */
export const API_KEY = 'test-key';

/** An n8n with the account, the credential and the templates. */
export interface Instance {
	api: N8nApi;
	/** The workflows of the templates by file name, without `.json`. */
	examples: Map<string, StoredWorkflow>;
}

/** Brings all that into a running n8n. Workflows that are there from an earlier run stay as they are. */
export async function setUpInstance(
	url: string,
	sandboxUrl: string,
	line: N8nLine,
): Promise<Instance> {
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
		const content = await readExample(name, credential, api, line);
		pasteUrl(content, url);
		const existing = stored.find((each) => each.name === content.name && each.isArchived !== true);
		examples.set(name, existing ?? (await api.createWorkflow(content)));
	}
	return { api, examples };
}

/** Pastes the production URL of the trigger into the node that starts scrapes, where a sticky asks for that. */
function pasteUrl({ nodes }: WorkflowContent, url: string): void {
	const trigger = nodes.find(({ type }) => type.endsWith('.leadGenTrigger'));
	for (const { parameters } of nodes) {
		const options = parameters.options as Record<string, unknown> | undefined;
		if (!String(options?.webhookUrl).startsWith('Paste ')) continue;
		const webhookUrl = `${url}/webhook/${String(trigger?.webhookId)}/leadgen`;
		parameters.options = { ...options, webhookUrl };
	}
}

/** Creates the Data Table of a workflow and chooses it in the nodes, as a person does on n8n 1. */
async function createTable(api: N8nApi, { nodes }: WorkflowContent): Promise<void> {
	const creating = nodes.find(({ name }) => name === 'Create the table')?.parameters;
	if (creating === undefined) return;
	const { tableName, columns } = creating as { tableName: string; columns: { column: object[] } };
	const known = (await api.dataTables()).find(({ name }) => name === tableName);
	const { id } = known ?? (await api.createDataTable(tableName, columns.column));
	for (const { parameters } of nodes) {
		if (parameters.dataTableId === undefined) continue;
		parameters.dataTableId = { __rl: true, mode: 'list', value: id };
	}
}

export const EXAMPLES = join(ROOT, 'examples');

/** Nodes with a URL of their own, of which their `webhookId` is a part. */
const WITH_URL = /\.(formTrigger|form|wait|leadGenTrigger|mcpTrigger)$/;

/**
 * A template as it is. Only the credential is filled in, as a person does, and on n8n 1 the Data Table: a file cannot
 * know their IDs in this n8n. And nodes get the parts of their URLs that n8n's editor gives them on an import.
 */
export async function readExample(
	name: string,
	credential: StoredCredential,
	api: N8nApi,
	line: N8nLine,
): Promise<WorkflowContent> {
	const text = await readFile(join(EXAMPLES, `${name}.json`), 'utf8');
	const content = JSON.parse(text) as WorkflowContent;
	for (const node of content.nodes) {
		if (node.credentials?.leadGenApi) node.credentials = use(credential);
		if (WITH_URL.test(node.type)) node.webhookId = randomUUID();
		if (node.parameters.path === '') node.parameters.path = node.webhookId;
	}
	if (line === '1') await createTable(api, content);
	return content;
}

/** The `credentials` of a node that uses one. */
export function use({ id, name }: StoredCredential): NonNullable<WorkflowNode['credentials']> {
	return { leadGenApi: { id, name } };
}
