import type { StoredCredential, WorkflowContent, WorkflowNode } from '../playground/api';

/** What works on the rows. */
export type Variant = 'leadgen' | 'http' | 'httpBatched' | 'httpPaced' | 'loop' | 'none';

export const VARIANTS: Record<Variant, string> = {
	leadgen: 'LeadGen',
	http: 'HTTP Request, default (no batching)',
	httpBatched: 'HTTP Request, batches of 50 per 1,000 ms',
	httpPaced: 'HTTP Request, batches of 5 per 1,000 ms',
	loop: 'Loop Over Items, 1 by 1, HTTP Request',
	none: 'the rows alone, no node',
};

/** The Batching option of the HTTP Request node: 50 is what it offers, 5 is 300 per minute. */
const BATCH_SIZES: Partial<Record<Variant, number>> = { httpBatched: 50, httpPaced: 5 };

/** The credentials of one account of the service, for both nodes. */
export interface Credentials {
	leadGenApi: StoredCredential;
	httpHeaderAuth: StoredCredential;
}

export interface Rows {
	items: number;
	/** How many of them are different people; the others are repeats of these. */
	distinct: number;
}

export interface Lookup extends Rows {
	variant: Variant;
	serviceUrl: string;
	credentials: Credentials;
	/** Whether n8n writes the result of the execution into its database. */
	save: boolean;
}

/** The nodes whose time counts; the others only make the rows. */
export const LOOP_NODE = 'Loop';
export const WORK_NODE = 'Work';

/** A workflow that makes the rows and looks up a business email for each. */
export function lookupWorkflow(path: string, lookup: Lookup): WorkflowContent {
	const nodes = [webhook(path), rows(lookup), work(lookup)];
	const connections: Record<string, unknown> = {
		Webhook: to('Rows'),
		Rows: to(lookup.variant === 'loop' ? LOOP_NODE : WORK_NODE),
	};
	if (lookup.variant === 'loop') {
		nodes.push(loop());
		// The first output is "done"; the second gives the next item.
		connections[LOOP_NODE] = { main: [[], [target(WORK_NODE)]] };
		connections[WORK_NODE] = to(LOOP_NODE);
	}
	const settings = {
		executionOrder: 'v1',
		saveDataSuccessExecution: lookup.save ? 'all' : 'none',
	};
	return { name: `${path}: ${VARIANTS[lookup.variant]}`, nodes, connections, settings };
}

function target(node: string) {
	return { node, type: 'main', index: 0 };
}

function to(node: string) {
	return { main: [[target(node)]] };
}

function node(
	name: string,
	type: string,
	typeVersion: number,
	parameters: Record<string, unknown>,
	more: Partial<WorkflowNode> = {},
): WorkflowNode {
	return { id: name, name, type, typeVersion, parameters, position: [0, 0], ...more };
}

function webhook(path: string): WorkflowNode {
	const parameters = { httpMethod: 'POST', path, responseMode: 'onReceived' };
	return node('Webhook', 'n8n-nodes-base.webhook', 2.1, parameters, { webhookId: path });
}

/** People of the last name "Sure" are always found by the sandbox, so each distinct call costs a credit. */
function rows({ items, distinct }: Rows): WorkflowNode {
	const jsCode = `return Array.from({ length: ${String(items)} }, (_, index) => ({
	json: { firstName: 'Person' + (index % ${String(distinct)}), lastName: 'Sure', company: 'acme.example' },
}));`;
	return node('Rows', 'n8n-nodes-base.code', 2, { jsCode });
}

function loop(): WorkflowNode {
	return node(LOOP_NODE, 'n8n-nodes-base.splitInBatches', 3, { batchSize: 1, options: {} });
}

function work({ variant, serviceUrl, credentials }: Lookup): WorkflowNode {
	if (variant === 'none') return node(WORK_NODE, 'n8n-nodes-base.noOp', 1, {});
	if (variant === 'leadgen') return leadGen(credentials);
	const batchSize = BATCH_SIZES[variant];
	const batching = { batch: { batchSize, batchInterval: 1000 } };
	return httpRequest(serviceUrl, credentials, batchSize === undefined ? {} : { batching });
}

function leadGen({ leadGenApi }: Credentials): WorkflowNode {
	const parameters = {
		resource: 'email',
		operation: 'findBusiness',
		firstName: '={{ $json.firstName }}',
		lastName: '={{ $json.lastName }}',
		company: '={{ $json.company }}',
		options: {},
	};
	return node(WORK_NODE, 'n8n-nodes-leadgen.leadGen', 1, parameters, {
		credentials: { leadGenApi: { id: leadGenApi.id, name: leadGenApi.name } },
		onError: 'continueRegularOutput',
	});
}

/** The same call as a person would build it: a body of name and value pairs, the key as a header. */
function httpRequest(
	serviceUrl: string,
	{ httpHeaderAuth }: Credentials,
	options: Record<string, unknown>,
): WorkflowNode {
	const fields = ['firstName', 'lastName', 'company'];
	const parameters = {
		method: 'POST',
		url: `${serviceUrl}/email/find`,
		authentication: 'genericCredentialType',
		genericAuthType: 'httpHeaderAuth',
		sendBody: true,
		bodyParameters: {
			parameters: fields.map((name) => ({ name, value: `={{ $json.${name} }}` })),
		},
		options,
	};
	return node(WORK_NODE, 'n8n-nodes-base.httpRequest', 4.2, parameters, {
		credentials: { httpHeaderAuth: { id: httpHeaderAuth.id, name: httpHeaderAuth.name } },
		onError: 'continueRegularOutput',
	});
}
