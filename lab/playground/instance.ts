import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
	type Credential,
	N8nApi,
	type Owner,
	type StoredCredential,
	type StoredWorkflow,
	type WorkflowContent,
} from './api';
import { EXAMPLES, readExample } from './examples';
import { PACKAGE_NAME } from './n8n';

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

/** Brings all that into a running n8n; what is there from an earlier run is updated. */
export async function setUpInstance(
	url: string,
	userFolder: string,
	sandboxUrl: string,
): Promise<Instance> {
	const api = new N8nApi(url);
	await api.signIn(OWNER);
	await listAsInstalled(api, userFolder);
	const credential = await storeCredential(api, {
		name: 'LeadGen account',
		type: 'leadGenApi',
		data: { baseUrl: sandboxUrl, apiKey: API_KEY },
	});

	const stored = await api.workflows();
	const examples = new Map<string, StoredWorkflow>();
	for (const file of await readdir(EXAMPLES)) {
		if (!file.endsWith('.json')) continue;
		const content = await readExample(file.replace('.json', ''), credential);
		const existing = stored.find(
			({ name, isArchived }) => name === content.name && isArchived !== true,
		);
		const workflow = existing
			? await api.updateWorkflow(existing.id, withUrlsOf(await api.workflow(existing.id), content))
			: await api.createWorkflow(content);
		examples.set(file.replace('.json', ''), workflow);
	}
	return { api, examples };
}

/** Keeps the URLs of the nodes that are there. */
function withUrlsOf(stored: StoredWorkflow, content: WorkflowContent): WorkflowContent {
	const nodes = content.nodes.map((node) => {
		const known = stored.nodes.find(({ name }) => name === node.name);
		if (known?.webhookId === undefined) return node;
		const { path } = known.parameters;
		const parameters = { ...node.parameters, ...(path !== undefined && { path }) };
		return { ...node, webhookId: known.webhookId, parameters };
	});
	return { ...content, nodes };
}

async function storeCredential(api: N8nApi, credential: Credential): Promise<StoredCredential> {
	const stored = await api.credentials();
	const existing = stored.find(({ name }) => name === credential.name);
	return existing
		? await api.updateCredential(existing.id, credential)
		: await api.createCredential(credential);
}

/**
 * Lists the package under Settings → Community nodes. n8n writes these rows when it installs a
 * package itself, which it does from the npm registry only.
 */
async function listAsInstalled(api: N8nApi, userFolder: string): Promise<void> {
	// The "…Tool" variants for AI agents are n8n's own, made of the nodes when it loads them.
	const types = (await api.nodeTypes()).filter(
		({ name }) => name.startsWith(`${PACKAGE_NAME}.`) && !name.endsWith('Tool'),
	);
	if (types.length === 0) throw new Error(`n8n did not load ${PACKAGE_NAME}; see its log`);
	const nodesFolder = join(userFolder, '.n8n/nodes');
	// That page asks npm for updates, and without internet npm would try for a minute.
	await writeFile(join(nodesFolder, '.npmrc'), 'fetch-retries=0\n');
	const manifest = await readFile(join(nodesFolder, 'package.json'), 'utf8');
	const { dependencies } = JSON.parse(manifest) as { dependencies: Record<string, string> };
	const database = new DatabaseSync(join(userFolder, '.n8n/database.sqlite'), { timeout: 10_000 });
	database
		.prepare(
			`INSERT INTO installed_packages ("packageName", "installedVersion") VALUES (?, ?)
			ON CONFLICT DO UPDATE SET "installedVersion" = excluded."installedVersion"`,
		)
		.run(PACKAGE_NAME, dependencies[PACKAGE_NAME] ?? '');
	const insertNode = database.prepare(
		'INSERT OR REPLACE INTO installed_nodes ("name", "type", "latestVersion", "package") VALUES (?, ?, ?, ?)',
	);
	for (const { name, displayName, version } of types) {
		insertNode.run(displayName, name, Math.max(...[version].flat()), PACKAGE_NAME);
	}
	database.close();
}
