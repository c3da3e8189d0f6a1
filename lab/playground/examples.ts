import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoredCredential, WorkflowContent, WorkflowNode } from './api';
import { ROOT } from './versions';

export const EXAMPLES = join(ROOT, 'examples');

/** An example as it is. Only the credential is filled in, as a person does: a file cannot know the ID that it has in this n8n. */
export async function readExample(
	name: string,
	credential?: StoredCredential,
): Promise<WorkflowContent> {
	const text = await readFile(join(EXAMPLES, `${name}.json`), 'utf8');
	const content = JSON.parse(text) as WorkflowContent;
	for (const node of content.nodes) {
		if (node.credentials?.leadGenApi && credential) node.credentials = use(credential);
	}
	return content;
}

/** The `credentials` of a node that uses one. */
export function use({ id, name }: StoredCredential): NonNullable<WorkflowNode['credentials']> {
	return { leadGenApi: { id, name } };
}
