import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoredCredential, WorkflowContent, WorkflowNode } from './api';
import { ROOT } from './versions';

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
