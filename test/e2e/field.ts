import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
	N8nApi,
	N8nApiError,
	type Execution,
	type ExecutionSummary,
	type Item,
	type StoredCredential,
	type StoredWorkflow,
	type WorkflowContent,
	type WorkflowNode,
} from '../../playground/api';
import { installN8n } from '../../playground/install';
import { freePort, installTarball, packPackage, startN8n, type N8n } from '../../playground/n8n';
import { findN8n } from '../../playground/versions';
import { startSandbox, type Sandbox } from '../../sandbox/server';
import type { SettingsPatch } from '../../sandbox/settings';

/** The n8n that the tests run on. */
export const N8N = findN8n(process.env.N8N_VERSION ?? '2');
export const LINE = N8N.line;
export const API_KEY = 'test-key';
export const OWNER = {
	email: 'e2e@example.com',
	password: 'Leadgen-e2e-1',
	firstName: 'E2e',
	lastName: 'Owner',
};
export const TRIGGER = 'n8n-nodes-leadgen.leadGenTrigger';
export const WITH_EDITOR = { N8N_DISABLE_UI: 'false' };

/** What is half written is whole within a second, or never. */
const HALF_WRITTEN_TRIES = 6;

/** A real n8n with the packed package, and the sandbox of the service. */
export class Field {
	sandbox!: Sandbox;
	api!: N8nApi;
	credential!: StoredCredential;
	private n8n: N8n | undefined;
	protected folder = '';
	protected port = 0;
	private workflowCount = 0;

	/** @param env further settings of n8n; what looks at the editor needs {@link WITH_EDITOR} */
	constructor(protected readonly env: Record<string, string> = {}) {}

	async open(): Promise<void> {
		await installN8n(N8N);
		this.folder = await mkdtemp(join(tmpdir(), `leadgen-e2e-${N8N.version}-`));
		await installTarball(this.folder, await currentPackage());
		this.sandbox = await startSandbox();
		this.port = await freePort();
		await this.start();
		this.api = new N8nApi(this.url);
		await this.api.signIn(OWNER);
		this.credential = await this.newCredential('Sandbox', API_KEY);
	}

	async close(): Promise<void> {
		await this.stop();
		await this.sandbox.close();
		if (process.env.KEEP_N8N === undefined) await rm(this.folder, { recursive: true, force: true });
	}

	get url(): string {
		return `http://127.0.0.1:${String(this.port)}`;
	}

	/** Where production URLs begin. */
	get webhookBase(): string {
		return this.url;
	}

	/** The process of n8n, while it runs. */
	get pid(): number | undefined {
		return this.n8n?.pid;
	}

	get logFile(): string {
		return join(this.folder, 'n8n.log');
	}

	async start(): Promise<void> {
		this.n8n = await startN8n({
			version: N8N,
			userFolder: this.folder,
			port: this.port,
			logFile: this.logFile,
			env: {
				N8N_LOG_LEVEL: process.env.N8N_LOG_LEVEL ?? 'info',
				// It starts a third faster without its editor.
				N8N_DISABLE_UI: 'true',
				// On a busy machine n8n would take its database for lost, and turn everything away.
				DB_PING_INTERVAL_SECONDS: '60',
				DB_PING_TIMEOUT_MS: '60000',
				...this.env,
			},
		});
	}

	/** As a service manager does. */
	async stop(): Promise<void> {
		await this.n8n?.stop();
	}

	/** As a power cut does. */
	async kill(): Promise<void> {
		await this.n8n?.kill();
	}

	async restart(): Promise<void> {
		await this.stop();
		await this.start();
	}

	/** Forgets all that the service did, and ends what the workflows before left behind. */
	async reset(settings: SettingsPatch = {}): Promise<void> {
		for (const { id, active } of await this.api.workflows()) {
			if (active) await this.api.deactivateWorkflow(id);
		}
		this.sandbox.reset({
			job: { durationMs: 1000 },
			rateLimit: { enabled: false },
			...settings,
		});
	}

	/** What a credential for the sandbox holds. */
	credentialData(apiKey: string, fields: Record<string, unknown> = {}): Record<string, unknown> {
		return { baseUrl: this.sandbox.url, apiKey, plan: 'pro', requestsPerMinute: 0, ...fields };
	}

	/** @param api of who is to own it */
	async newCredential(
		name: string,
		apiKey: string,
		fields: Record<string, unknown> = {},
		api = this.api,
	): Promise<StoredCredential> {
		const data = this.credentialData(apiKey, fields);
		return await api.createCredential({ name, type: 'leadGenApi', data });
	}

	trigger(
		parameters: Record<string, unknown> = {},
		fields: Partial<WorkflowNode> = {},
	): WorkflowNode {
		return node('LeadGen Trigger', TRIGGER, {
			webhookId: uuid(),
			parameters: { filters: { jobTitles: ['CTO'] }, limit: 10, ...parameters },
			credentials: use(this.credential),
			...fields,
		});
	}

	/** The action node. */
	leadGen(
		parameters: Record<string, unknown> = {},
		fields: Partial<WorkflowNode> = {},
	): WorkflowNode {
		return node('LeadGen', 'n8n-nodes-leadgen.leadGen', {
			parameters,
			credentials: use(this.credential),
			...fields,
		});
	}

	/** The trigger and what follows, in a row. */
	content(trigger: WorkflowNode, ...others: WorkflowNode[]): WorkflowContent {
		const row = [trigger, ...others].map((each, at) => ({ ...each, position: [250 * at, 0] }));
		const connections = Object.fromEntries(
			row
				.slice(0, -1)
				.map(({ name }, index) => [
					name,
					{ main: [[{ node: row[index + 1]?.name, type: 'main', index: 0 }]] },
				]),
		);
		const name = `e2e ${String(++this.workflowCount)}`;
		return { name, nodes: row, connections, settings: { executionOrder: 'v1' } };
	}

	/** Creates a workflow of the trigger alone. */
	async workflow(parameters: Record<string, unknown> = {}): Promise<StoredWorkflow> {
		const end = node('End', 'n8n-nodes-base.noOp');
		return await this.api.createWorkflow(this.content(this.trigger(parameters), end));
	}

	/** Requests to start a scrape so far, whatever they were answered. */
	get starts(): number {
		return this.count('startScrape');
	}

	count(operation: string): number {
		return this.sandbox.requests.filter((request) => request.operation === operation).length;
	}

	/** Starts a scrape as anyone does who has the API key, with the URL of a node or without. @returns its ID */
	async startElsewhere(webhookUrl?: string, limit = 1): Promise<string> {
		const response = await fetch(`${this.sandbox.url}/start`, {
			method: 'POST',
			headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
			body: JSON.stringify({ filters: { limit }, ...(webhookUrl && { webhookUrl }) }),
		});
		const { data } = (await response.json()) as { data: { scrapeId: string } };
		return data.scrapeId;
	}

	async executions(workflowId: string): Promise<ExecutionSummary[]> {
		return await this.api.executions(workflowId);
	}

	/** An execution once it is over; undefined if a power cut left nothing of it but its number. */
	async finished(executionId: string): Promise<Execution | undefined> {
		for (let tries = 1; ; tries++) {
			try {
				return await this.api.finishedExecution(executionId);
			} catch (error) {
				// n8n writes the execution and its data one after the other, and cannot show half of it.
				if (!(error instanceof N8nApiError) || error.status !== 500) throw error;
				if (tries === HALF_WRITTEN_TRIES) return undefined;
				await sleep(200);
			}
		}
	}

	/** The items that the trigger gave in all executions, the oldest first, once they are over. */
	async delivered(workflowId: string, trigger = 'LeadGen Trigger'): Promise<Item[]> {
		const items: Item[] = [];
		for (const { id } of await this.executions(workflowId)) {
			const execution = await this.finished(id);
			items.unshift(...(execution?.nodes[trigger]?.outputs[0] ?? []));
		}
		return items;
	}

	/** What the failed executions say, the oldest first. */
	async told(workflowId: string): Promise<string[]> {
		return (await this.failed(workflowId)).map(({ error = '' }) => error);
	}

	/** What the failed executions advise, the oldest first. */
	async advice(workflowId: string): Promise<string[]> {
		return (await this.failed(workflowId)).map(({ advice = '' }) => advice);
	}

	private async failed(workflowId: string): Promise<Execution[]> {
		const failed: Execution[] = [];
		for (const { id } of await this.executions(workflowId)) {
			const execution = await this.finished(id);
			if (execution?.status === 'error') failed.unshift(execution);
		}
		return failed;
	}

	/** Production URL of a trigger, with the signed attempt, as the service got it. */
	webhookUrl(job = 0): string {
		return this.sandbox.jobs[job]?.webhookUrl ?? '';
	}

	plainUrl(workflow: StoredWorkflow): string {
		const trigger = workflow.nodes.find(({ type }) => type === TRIGGER);
		return `${this.webhookBase}/webhook/${String(trigger?.webhookId)}/leadgen`;
	}
}

async function currentPackage(): Promise<string> {
	return process.env.PACKAGE_TARBALL ?? (await packPackage());
}

export function uuid(): string {
	return crypto.randomUUID();
}

export function node(name: string, type: string, fields: Partial<WorkflowNode> = {}): WorkflowNode {
	return { id: uuid(), name, type, typeVersion: 1, position: [0, 0], parameters: {}, ...fields };
}

/** The `credentials` of a node that uses one. */
export function use({ id, name }: StoredCredential): WorkflowNode['credentials'] {
	return { leadGenApi: { id, name } };
}

/** Waits until something is as it should be. What n8n has to say is asked for less often, as that takes its time. */
export async function until(
	what: string | (() => string),
	check: () => boolean | Promise<boolean>,
	timeoutMs = 60_000,
): Promise<void> {
	const end = Date.now() + timeoutMs;
	for (;;) {
		const result = check();
		if (await result) return;
		if (Date.now() > end) {
			const missing = typeof what === 'string' ? what : what();
			throw new Error(`In ${String(timeoutMs)} ms it did not happen: ${missing}`);
		}
		await sleep(typeof result === 'boolean' ? 50 : 300);
	}
}

/** Long enough for anything that should not happen. */
export async function quiet(ms = 2000): Promise<void> {
	await sleep(ms);
}
