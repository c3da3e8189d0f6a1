import { setTimeout as sleep } from 'node:timers/promises';
import { node, uuid, type Fixture } from '../fixture/fixture';
import type { WorkflowNode } from '../playground/api';

/** What a node works on: so many rows, each as an expression of JavaScript makes it of its `index`. */
interface Rows {
	count: number;
	json: string;
}

/**
 * Runs a workflow in production: its webhook begins, and is answered after the node that works.
 * @returns the HTTP status of the answer
 */
export async function runWorkflow(
	fixture: Fixture,
	{ count, json }: Rows,
	work: WorkflowNode,
	signal?: AbortSignal,
): Promise<number> {
	const path = uuid();
	const webhook = node('Webhook', 'n8n-nodes-base.webhook', {
		typeVersion: 2,
		webhookId: path,
		parameters: { path, responseMode: 'lastNode', responseData: 'noData' },
	});
	const jsCode = `return Array.from({ length: ${String(count)} }, (_, index) => ({ json: ${json} }));`;
	const rows = node('Rows', 'n8n-nodes-base.code', { typeVersion: 2, parameters: { jsCode } });
	const { id } = await fixture.activate(webhook, rows, work);
	try {
		for (;;) {
			const { status } = await fetch(`${fixture.url}/webhook/${path}`, { signal });
			// n8n 2 has the URL a moment after it has activated the workflow.
			if (status !== 404) return status;
			await sleep(100);
		}
	} finally {
		await fixture.api.deactivateWorkflow(id);
	}
}
