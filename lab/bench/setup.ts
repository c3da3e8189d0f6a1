import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse as parseFlatted } from 'flatted';
import { N8nApi, N8nApiError } from '../playground/api';
import { OWNER } from '../playground/instance';
import { type N8n, freePort, installTarball, startN8n } from '../playground/n8n';
import { findN8n } from '../playground/versions';
import type { SettingsPatch } from '../sandbox/settings';
import { type ProcessUse, watchProcess } from './processUse';
import { SandboxProcess, type Traffic } from './service';
import {
	type Credentials,
	LOOP_NODE,
	type Rows,
	type Variant,
	WORK_NODE,
	lookupWorkflow,
} from './workflows';

const CREDITS = 1_000_000;

/** A run of a workflow to be measured. */
export interface Task extends Rows {
	variant: Variant;
	plan: 'enterprise' | 'pro' | 'starter';
	/** What the credential says of the plan, where it is not its name. */
	credential?: { plan: string; requestsPerMinute: number };
	/** Credits of the account; more than any run needs by default. */
	credits?: number;
	service: SettingsPatch;
	/** Not for large runs, so that what is measured is the node and not n8n's database. Default true. */
	save?: boolean;
}

/** What a run gave. */
export interface Measured extends Traffic {
	/** The node's own execution time by n8n's record; of a run that is not saved, the service's view. */
	ms: number;
	/** Items that came out with a result; of a run that is not saved, calls that were answered. */
	results: number;
	/** The longest time that n8n did not answer its own editor. */
	stallMs: number;
	/** What the n8n process took during the run, where the system tells. */
	process?: ProcessUse;
}

/** n8n's record of an execution, as far as we read it. */
interface Stored {
	resultData: { runData: Record<string, NodeRun[] | undefined> };
}

interface NodeRun {
	startTime: number;
	executionTime: number;
	data?: { main?: Array<Array<{ json: Record<string, unknown> }> | null> };
}

/** A real n8n with the packed package, and the service. */
export class BenchSetup {
	private n8n: N8n | undefined;
	private api = new N8nApi('');
	private runs = 0;

	private constructor(
		private readonly folder: string,
		private readonly sandbox: SandboxProcess,
		private readonly signal: AbortSignal,
	) {}

	static async open(tarball: string, signal: AbortSignal): Promise<BenchSetup> {
		const folder = await mkdtemp(join(tmpdir(), 'leadgen-bench-'));
		try {
			await installTarball(folder, tarball, signal);
			return new BenchSetup(folder, await SandboxProcess.start(), signal);
		} catch (error) {
			await rm(folder, { recursive: true, force: true });
			throw error;
		}
	}

	/** Starts n8n, or starts it anew, so that nothing is left in its memory. */
	async startN8n(): Promise<void> {
		await this.n8n?.stop();
		this.n8n = await startN8n({
			version: findN8n('2'),
			userFolder: this.folder,
			port: await freePort(),
			env: { N8N_LOG_LEVEL: 'warn' },
			signal: this.signal,
		});
		this.api = new N8nApi(this.n8n.url);
		await this.api.signIn(OWNER);
	}

	async close(): Promise<void> {
		await this.n8n?.stop();
		await this.sandbox.stop();
		await rm(this.folder, { recursive: true, force: true });
	}

	/** Runs a workflow in production, on an account that nothing is known of yet. */
	async measure(task: Task): Promise<Measured> {
		const { variant, plan, credits = CREDITS, service, save = true } = task;
		const rows = { items: task.items, distinct: task.distinct };
		const { n8n, api, sandbox } = this;
		if (!n8n) throw new Error('n8n is not started');
		const name = `run-${String(++this.runs)}`;
		await sandbox.reset(name, { plan, credits }, service);
		const credentials = await this.createCredentials(
			name,
			task.credential ?? { plan, requestsPerMinute: 0 },
		);
		const workflow = await api.createWorkflow(
			lookupWorkflow(name, { ...rows, variant, serviceUrl: sandbox.url, credentials, save }),
		);
		const { status } = await api.activateWorkflow(workflow.id);
		if (status !== 'published') throw new Error(`The workflow is ${status}`);

		const endUse = await watchProcess(n8n.pid);
		await this.trigger(`${n8n.url}/webhook/${name}`);
		const { id: executionId, stallMs } = await this.finished(workflow.id);
		const use = await endUse();
		await patiently(() => api.deactivateWorkflow(workflow.id));

		const traffic = await sandbox.traffic();
		if (executionId === undefined) {
			const results = traffic.requests - traffic.refused;
			return { ...traffic, results, stallMs, process: use };
		}
		return { ...traffic, ...this.readExecution(executionId), stallMs, process: use };
	}

	/** The webhook of a workflow can come up to a second after its activation. */
	private async trigger(address: string): Promise<void> {
		for (let tries = 0; ; tries++) {
			const { ok, status } = await fetch(address, { method: 'POST' });
			if (ok) return;
			if (status !== 404 || tries === 50) throw new Error(`The webhook answered ${String(status)}`);
			await sleep(100, undefined, { signal: this.signal });
		}
	}

	/**
	 * Waits until the only execution of a workflow is over.
	 * @returns its id, undefined if it was not saved; and how long n8n gave no answer in the meantime
	 */
	private async finished(workflowId: string): Promise<{ id?: string; stallMs: number }> {
		let stallMs = 0;
		for (;;) {
			const asked = Date.now();
			const [execution, ...more] = await patiently(() => this.api.executions(workflowId));
			stallMs = Math.max(stallMs, Date.now() - asked);
			// n8n lists one twice that ends while it is asked.
			if (more.some(({ id }) => id !== execution?.id))
				throw new Error('The workflow ran more than once');
			if (!execution) return { stallMs };
			if (execution.status === 'success') return { id: execution.id, stallMs };
			if (!['new', 'running', 'waiting'].includes(execution.status)) {
				throw new Error(`The execution ended with "${execution.status}"`);
			}
			await sleep(100, undefined, { signal: this.signal });
		}
	}

	private readExecution(id: string): { ms: number; results: number } {
		const database = new DatabaseSync(join(this.folder, '.n8n/database.sqlite'), {
			readOnly: true,
			timeout: 10_000,
		});
		const row = database.prepare('SELECT data FROM execution_data WHERE executionId = ?').get(id);
		database.close();
		const { runData } = (parseFlatted(String(row?.data)) as Stored).resultData;
		const work = runData[WORK_NODE] ?? [];
		const all = [...work, ...(runData[LOOP_NODE] ?? [])];
		const begin = Math.min(...all.map(({ startTime }) => startTime));
		const end = Math.max(...all.map((run) => run.startTime + run.executionTime));
		const items = work.flatMap(({ data }) => data?.main?.[0] ?? []);
		return { ms: end - begin, results: items.filter(({ json }) => hasResult(json)).length };
	}

	/** Both hold the same key; the LeadGen node goes by the plan, too. */
	private async createCredentials(apiKey: string, limit: Task['credential']): Promise<Credentials> {
		const leadGenApi = await this.api.createCredential({
			name: `LeadGen ${apiKey}`,
			type: 'leadGenApi',
			data: { baseUrl: this.sandbox.url, apiKey, ...limit },
		});
		const httpHeaderAuth = await this.api.createCredential({
			name: `Header ${apiKey}`,
			type: 'httpHeaderAuth',
			data: { name: 'Authorization', value: `Bearer ${apiKey}` },
		});
		return { leadGenApi, httpHeaderAuth };
	}
}

/** The LeadGen node gives the data of the answer, the HTTP Request node the whole answer. */
function hasResult(json: Record<string, unknown>): boolean {
	const { data = json } = json as { data?: { email?: unknown } };
	return typeof data.email === 'string';
}

const PATIENCE_MS = 10 * 60_000;

/** An n8n that is too busy for its own database answers 503 to all requests for a while. */
async function patiently<T>(request: () => Promise<T>): Promise<T> {
	for (const deadline = Date.now() + PATIENCE_MS; ;) {
		try {
			return await request();
		} catch (error) {
			const isBusy = error instanceof N8nApiError && error.status === 503;
			if (!isBusy || Date.now() > deadline) throw error;
			await sleep(500);
		}
	}
}
