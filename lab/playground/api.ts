import { setTimeout as sleep } from 'node:timers/promises';
import { parse as parseFlatted } from 'flatted';
import type { IRunExecutionData } from 'n8n-workflow';

/** Sign-in of the owner account. */
export type Owner = Record<'email' | 'password' | 'firstName' | 'lastName', string>;

interface Credential {
	name: string;
	type: string;
	data: Record<string, unknown>;
}

export type StoredCredential = Record<'id' | 'name' | 'type', string>;

export type DataTable = Record<'id' | 'name', string>;
export type DataTableRow = Record<string, unknown>;

export interface WorkflowNode {
	name: string;
	type: string;
	parameters: Record<string, unknown>;
	credentials?: Record<string, { id: string | null; name: string }>;
	[field: string]: unknown;
}

/** What a workflow file of n8n's "Download" holds. */
export interface WorkflowContent {
	name: string;
	nodes: WorkflowNode[];
	connections: Record<string, unknown>;
	settings?: Record<string, unknown>;
	[field: string]: unknown;
}

export interface StoredWorkflow extends WorkflowContent {
	id: string;
	active: boolean;
	versionId: string;
}

export interface Item {
	json: Record<string, unknown>;
	pairedItem?: unknown;
}

export interface ExecutionSummary {
	id: string;
	status: string;
	/** The execution that this one repeats. */
	retryOf?: string | null;
}

export interface Execution extends Omit<ExecutionSummary, 'retryOf'> {
	/** What the whole execution failed with. */
	error?: string;
	/** By node name, the items of each output, of all runs of the node together; a node that did not run is not there. */
	nodes: Record<string, { outputs: Item[][] } | undefined>;
	/** The items that the next node waits for, as far as n8n wrote down what ran. */
	waiting: Item[];
	/** It was waiting when n8n wrote this. */
	wasWaiting: boolean;
	/** The highlighted data. */
	highlighted: Record<string, string>;
}

/** How the triggers of a published workflow fare (n8n 2.x). */
interface Publication {
	status: string;
	triggers: Array<{ errorMessage: string | null }>;
}

/** n8n writes what came out of an execution so long after it is over at most. */
const SETTLES_MS = 2000;

/** What an execution is before it is over. */
const UNFINISHED = ['new', 'running', 'waiting', 'unknown'];

/** Whether all is written of an execution that is over; n8n 1 writes that it is a moment before what came out of it. */
function isWhole({ status, error, nodes, wasWaiting }: Execution): boolean {
	const hasResult = error !== undefined || (Object.keys(nodes).length > 0 && !wasWaiting);
	return hasResult || !['success', 'error'].includes(status);
}

/** An answer of n8n that is not a success. */
export class N8nApiError extends Error {
	constructor(
		request: string,
		readonly status: number,
		body: string,
	) {
		super(`${request} answered ${String(status)}: ${body.slice(0, 1000)}`);
	}
}

/** Handles an error: does something else if n8n answers with a status, and throws any other error on. */
export function ifStatus<T>(status: number, instead: (error: N8nApiError) => T | Promise<T>) {
	return async (error: unknown): Promise<T> => {
		if (error instanceof N8nApiError && error.status === status) return await instead(error);
		throw error;
	};
}

interface ExecutionPage {
	results: ExecutionSummary[];
	nextCursor?: string | null;
}

/** n8n lists no more at once. */
const PAGE = 100;

/** The part of the editor's own REST API that we use; the same for n8n 1 and 2 but where it says so. */
export class N8nApi {
	private cookie = '';

	constructor(private readonly url: string) {}

	/** Creates the owner account on a fresh n8n, or signs in to the existing one. */
	async signIn(owner: Owner): Promise<void> {
		const { email, password } = owner;
		await this.send('POST', 'login', { emailOrLdapLoginId: email, password }).catch(
			ifStatus(401, () => this.send('POST', 'owner/setup', owner)),
		);
	}

	async credentials(): Promise<StoredCredential[]> {
		return await this.send('GET', 'credentials');
	}

	async createCredential(credential: Credential): Promise<StoredCredential> {
		return await this.send('POST', 'credentials', credential);
	}

	async updateCredential(id: string, credential: Credential): Promise<StoredCredential> {
		return await this.send('PATCH', `credentials/${id}`, credential);
	}

	/** Creates a Data Table (n8n 1.123 and 2). @param columns each with its name and type */
	async createDataTable(name: string, columns: object[]): Promise<DataTable> {
		return await this.send('POST', await this.dataTablePath(), { name, columns });
	}

	async dataTables(): Promise<DataTable[]> {
		return (await this.send<{ data: DataTable[] }>('GET', await this.dataTablePath())).data;
	}

	/** All rows of a Data Table, the oldest first. */
	async dataTableRows({ id }: DataTable): Promise<DataTableRow[]> {
		const path = `${await this.dataTablePath()}/${id}/rows?take=${String(PAGE)}&sortBy=id:asc`;
		const all: DataTableRow[] = [];
		for (;;) {
			const { data, count } = await this.send<{ data: DataTableRow[]; count: number }>(
				'GET',
				`${path}&skip=${String(all.length)}`,
			);
			all.push(...data);
			// n8n 1 gives 50 at once.
			if (all.length >= count || data.length === 0) return all;
		}
	}

	private async dataTablePath(): Promise<string> {
		const { id } = await this.send<{ id: string }>('GET', 'projects/personal');
		return `projects/${id}/data-tables`;
	}

	async workflows(): Promise<StoredWorkflow[]> {
		return await this.send('GET', 'workflows');
	}

	async workflow(id: string): Promise<StoredWorkflow> {
		return await this.send('GET', `workflows/${id}`);
	}

	async createWorkflow(content: WorkflowContent): Promise<StoredWorkflow> {
		return await this.send('POST', 'workflows', { ...content, active: false });
	}

	/** Saves a workflow as the editor does; whether it is active stays. */
	async updateWorkflow(id: string, content: WorkflowContent): Promise<StoredWorkflow> {
		const { active, versionId } = await this.workflow(id);
		// As in the editor, which does not know what the nodes save.
		const changed = { ...content, staticData: undefined, active, versionId };
		try {
			return await this.send('PATCH', `workflows/${id}`, changed);
		} catch (error) {
			// n8n 1 has one connection to SQLite, and mixes up what two requests save at the same moment.
			if (!String(error).includes('TransactionNotStartedError')) throw error;
			return await this.updateWorkflow(id, content);
		}
	}

	/** Activates the newest version, which n8n 2.x calls publishing, and waits until it is through. */
	async activateWorkflow(id: string): Promise<Publication> {
		return await this.switchWorkflow(id, true);
	}

	/** Deactivates a workflow, and waits until it is through. */
	async deactivateWorkflow(id: string): Promise<void> {
		await this.switchWorkflow(id, false);
	}

	private async switchWorkflow(id: string, active: boolean): Promise<Publication> {
		const { versionId } = await this.workflow(id);
		const path = `workflows/${id}/${active ? 'activate' : 'deactivate'}`;
		await this.send('POST', path, { versionId }).catch(
			// n8n 1 has these only in its last versions.
			ifStatus(404, () => this.send('PATCH', `workflows/${id}`, { active, versionId })),
		);
		for (;;) {
			const path = `workflows/${id}/publication-status`;
			const publication = await this.send<Publication>('GET', path).catch(
				// n8n 1 has no such report: there it is done, or has failed, at once.
				ifStatus<Publication>(404, () => ({ status: 'published', triggers: [] })),
			);
			if (publication.status !== 'in_progress') return publication;
			await sleep(100);
		}
	}

	/**
	 * Presses "Execute workflow" at a trigger.
	 * @param workflowData as it is in the editor; by default as it is saved
	 * @returns the execution; undefined if n8n now listens for a test event
	 */
	async startWorkflow(
		id: string,
		triggerName = 'When clicking ‘Execute workflow’',
		workflowData?: StoredWorkflow,
	): Promise<string | undefined> {
		const { executionId } = await this.send<{ executionId?: string }>(
			'POST',
			`workflows/${id}/run`,
			{
				workflowData: workflowData ?? (await this.workflow(id)),
				triggerToStartFrom: { name: triggerName },
			},
		);
		return executionId;
	}

	/** Presses "Stop" while n8n listens for a test event. */
	async stopListening(id: string): Promise<void> {
		await this.send('DELETE', `test-webhook/${id}`);
	}

	/** Runs a workflow by hand from a trigger, and waits for the result. */
	async runWorkflow(id: string, triggerName?: string): Promise<Execution> {
		const executionId = await this.startWorkflow(id, triggerName);
		if (executionId === undefined) throw new Error('It waits for a test event');
		return await this.finishedExecution(executionId);
	}

	/**
	 * Waits until an execution is over, and all of it is written.
	 * @throws N8nApiError with status 500 if n8n cannot show it, because a power cut left half of it
	 */
	async finishedExecution(id: string): Promise<Execution> {
		let overAt = Infinity;
		for (;;) {
			// n8n 2.16 cannot show one that has just begun, and no n8n shows one of which half is written.
			const shown = await this.execution(id).catch(ifStatus(500, (error) => error));
			const isError = shown instanceof N8nApiError;
			const summary = isError ? (await this.newest()).find((one) => one.id === id) : shown;
			if (!summary || !UNFINISHED.includes(summary.status)) {
				overAt = Math.min(overAt, Date.now());
				const isSettled = Date.now() > overAt + SETTLES_MS;
				if (isError && isSettled) throw shown;
				// One that the trigger ended, because the completion had run before, has no result.
				if (!isError && (isWhole(shown) || isSettled)) return shown;
			}
			await sleep(200);
		}
	}

	/** The newest executions of all workflows, the newest first. */
	private async newest(): Promise<ExecutionSummary[]> {
		return (await this.send<ExecutionPage>('GET', 'executions?filter={}')).results;
	}

	/** Presses "Stop" at an execution that runs. */
	async stopExecution(id: string): Promise<void> {
		await this.send('POST', `executions/${id}/stop`, {});
	}

	/** Presses "Retry" at an execution, and waits for the result. */
	async retryExecution(id: string): Promise<Execution> {
		await this.send('POST', `executions/${id}/retry`, { loadWorkflow: false });
		// Old versions of n8n answer without an ID. A busy n8n lists the execution a moment later.
		for (let tries = 0; tries < 20; tries++) {
			const retry = (await this.newest()).find(({ retryOf }) => retryOf === id);
			if (retry) return await this.finishedExecution(retry.id);
			await sleep(500);
		}
		throw new Error(`Execution ${id} was not retried`);
	}

	async execution(id: string): Promise<Execution> {
		const answer = await this.send<ExecutionSummary & { data: string }>('GET', `executions/${id}`);
		const { status, data } = answer;
		// Of an execution that has just begun there is nothing yet.
		const stored = parseFlatted(data) as IRunExecutionData | undefined;
		const { runData = {}, error, metadata = {} } = stored?.resultData ?? {};
		const nodes: Execution['nodes'] = {};
		for (const [name, runs] of Object.entries(runData)) {
			const outputs: Item[][] = [];
			for (const { data } of runs) {
				data?.main?.forEach((items, index) => (outputs[index] ??= []).push(...(items ?? [])));
			}
			nodes[name] = { outputs };
		}
		return {
			id,
			status,
			error: error?.message,
			nodes,
			waiting: stored?.executionData?.nodeExecutionStack[0]?.data.main?.[0] ?? [],
			wasWaiting: Boolean(stored?.waitTill),
			highlighted: metadata,
		};
	}

	/** All executions of a workflow, the newest first. */
	async executions(workflowId: string): Promise<ExecutionSummary[]> {
		const filter = encodeURIComponent(JSON.stringify({ workflowId }));
		const path = `executions?limit=${String(PAGE)}&filter=${filter}`;
		const all: ExecutionSummary[] = [];
		for (let next: string | null = ''; next !== null;) {
			const page: ExecutionPage = await this.send('GET', path + next);
			const { results, nextCursor } = page;
			// n8n 1 knows no cursor, and lists those that run on each page.
			all.push(...results.filter(({ id }) => !all.some((known) => known.id === id)));
			const last = results.length >= PAGE ? `&lastId=${results.at(-1)?.id ?? ''}` : null;
			next = nextCursor === undefined ? last : nextCursor && `&cursor=${nextCursor}`;
		}
		return all;
	}

	/** @returns the data of the answer, which n8n gives for this path */
	private async send<T>(method: string, path: string, body?: unknown): Promise<T> {
		const response = await fetch(`${this.url}/rest/${path}`, {
			method,
			headers: {
				'content-type': 'application/json',
				cookie: this.cookie,
				// A busy n8n may close a connection that was kept, just as the next request goes out on it.
				connection: 'close',
			},
			body: body === undefined ? undefined : JSON.stringify(body),
		});
		const text = await response.text();
		if (!response.ok) throw new N8nApiError(`${method} /rest/${path}`, response.status, text);
		const [cookie] = response.headers.getSetCookie();
		if (cookie !== undefined) this.cookie = cookie.split(';')[0] ?? '';
		return (JSON.parse(text) as { data: T }).data;
	}
}
