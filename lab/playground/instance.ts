import { readdir } from 'node:fs/promises';
import {
	type Credential,
	N8nApi,
	type Owner,
	type StoredCredential,
	type StoredWorkflow,
} from './api';
import { EXAMPLES, readExample } from './examples';

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
	const credential = await storeCredential(api, {
		name: 'LeadGen account',
		type: 'leadGenApi',
		data: { baseUrl: sandboxUrl, apiKey: API_KEY },
	});

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

async function storeCredential(api: N8nApi, credential: Credential): Promise<StoredCredential> {
	const stored = await api.credentials();
	const existing = stored.find(({ name }) => name === credential.name);
	return existing
		? await api.updateCredential(existing.id, credential)
		: await api.createCredential(credential);
}
