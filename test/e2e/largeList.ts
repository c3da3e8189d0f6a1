import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataTable, StoredWorkflow, WorkflowContent } from '../../playground/api';
import { sql, startPostgres, type Server } from '../../playground/servers';
import { LINE, until, uuid, type Field } from './field';

const FOLDER = join(__dirname, '../../examples');
const TABLE = 'leadgen_large_list';
/**
 * Settings of n8n. By default n8n 1 has one connection to SQLite: transactions at the same time mix there, and what they
 * wrote to a Data Table can be lost. n8n 2 activates a workflow again two minutes after a power cut.
 */
export const ENV: Record<string, string> =
	LINE === '1'
		? { DB_SQLITE_POOL_SIZE: '4' }
		: {
				N8N_WORKFLOW_PUBLICATION_OUTBOX_LEASE_SECONDS: '10',
				N8N_WORKFLOW_PUBLICATION_OUTBOX_POLL_INTERVAL_MS: '2000',
			};

/** How long n8n may take to activate a workflow after a power cut. */
const ACTIVATED_MS = 180_000;
const MANUAL = 'When clicking ‘Execute workflow’';

export const STORES = ['Data Table', 'Postgres'] as const;
export type Store = (typeof STORES)[number];

/** A row of the table, under the names of the Data Table. */
export interface ListRow {
	id: number;
	firstName: string;
	lastName: string;
	company: string;
	status: string;
	email: string | null;
	verification: string | null;
	reason: string | null;
	addressNotAccepted: string | null;
	checkedAt: string | null;
	dueAt: string | null;
}

/** One of the two templates for lists of any length, in a real n8n. */
export class LargeList {
	private workflow!: StoredWorkflow;
	private postgres: Server | undefined;

	constructor(
		private readonly field: Field,
		private readonly store: Store,
	) {}

	/**
	 * Imports the template, and does what its note asks for before the start.
	 * @param settings changes those on the canvas
	 */
	async open(settings: Record<string, number> = {}): Promise<void> {
		const file = this.store === 'Postgres' ? 'large-list-postgres' : 'large-list';
		const text = await readFile(join(FOLDER, `${file}.json`), 'utf8');
		const content = JSON.parse(text) as WorkflowContent;
		const { id, name } = this.field.credential;
		for (const node of content.nodes) {
			if (node.webhookId !== undefined) node.webhookId = uuid();
			if (node.credentials?.leadGenApi) node.credentials = { leadGenApi: { id, name } };
			if (node.name === 'Settings') changeSettings(node.parameters, settings);
		}
		if (this.store === 'Postgres') await this.preparePostgres(content);
		else if (LINE === '1') await this.prepareDataTable(content);
		this.workflow = await this.field.api.createWorkflow(content);
		await this.field.api.activateWorkflow(this.workflow.id);
	}

	async close(): Promise<void> {
		await this.postgres?.close();
		this.postgres = undefined;
	}

	/** Uploads a CSV file with the form, as a browser does. @returns the last page of the form */
	async upload(csv: string, timeoutMs?: number): Promise<string> {
		const page = await this.send(csv);
		const isThere = async () => {
			const status = await (await fetch(statusOf(page))).text();
			if (status === 'error' || status === 'crashed') throw new Error(`The upload: ${status}`);
			return status === 'form-waiting';
		};
		await until('the last page of the form', isThere, timeoutMs);
		const html = await (await fetch(page)).text();
		// Its script does the same.
		await fetch(page, { method: 'POST' });
		return html;
	}

	/** Sends a CSV file with the form. @returns the URL of its last page */
	async send(csv: string): Promise<string> {
		const form = new FormData();
		// As Excel saves it: with a byte order mark.
		form.append('field-0', new Blob(['\ufeff', csv], { type: 'text/csv' }), 'people.csv');
		const trigger = this.workflow.nodes.find(({ type }) => type === 'n8n-nodes-base.formTrigger');
		const url = `${this.field.url}/form/${String(trigger?.webhookId)}`;
		await until('the form', async () => (await fetch(url)).ok, ACTIVATED_MS);
		const answer = await fetch(url, { method: 'POST', body: form });
		if (!answer.ok) throw new Error(`The form answers ${String(answer.status)}`);
		return ((await answer.json()) as { formWaitingUrl: string }).formWaitingUrl;
	}

	/** Begins a run by hand. @returns the ID of its execution */
	async start(): Promise<string> {
		return String(await this.field.api.startWorkflow(this.workflow.id, MANUAL));
	}

	/** Runs the workflow by hand. @returns its summary */
	async run(): Promise<Record<string, unknown>> {
		return await this.summary(await this.start());
	}

	/** What a run that was begun came to, once it is over. */
	async summary(executionId: string): Promise<Record<string, unknown>> {
		const execution = await this.field.api.finishedExecution(executionId);
		if (execution.status !== 'success')
			throw new Error(`${execution.status}: ${String(execution.error)}`);
		return execution.nodes.Summary?.outputs[0]?.[0]?.json ?? {};
	}

	/** How many rows the table has. */
	async count(): Promise<number> {
		return this.store === 'Postgres'
			? Number(await sql(this.postgres?.port ?? 0, `SELECT count(*) FROM ${TABLE}`))
			: await this.field.api.dataTableCount(await this.dataTable());
	}

	/** What the table takes, in bytes. */
	async bytes(): Promise<number> {
		return this.store === 'Postgres'
			? Number(await sql(this.postgres?.port ?? 0, `SELECT pg_total_relation_size('${TABLE}')`))
			: await this.field.api.dataTableBytes();
	}

	/** The rows of the table, the oldest first. */
	async rows(): Promise<ListRow[]> {
		if (this.store === 'Postgres') {
			const fields =
				'id, first_name AS "firstName", last_name AS "lastName", company, status, email, verification, reason, address_not_accepted AS "addressNotAccepted", checked_at AS "checkedAt", due_at AS "dueAt"';
			const rows = `SELECT ${fields} FROM ${TABLE} ORDER BY id`;
			const text = await sql(
				this.postgres?.port ?? 0,
				`SELECT json_agg(list) FROM (${rows}) AS list`,
			);
			return text === '' ? [] : (JSON.parse(text) as ListRow[]);
		}
		return (await this.field.api.dataTableRows(await this.dataTable())) as unknown as ListRow[];
	}

	/** Has a row looked up again by the next run, as a person does. */
	async lookUpAgain({ id }: ListRow): Promise<void> {
		if (this.store === 'Postgres') {
			const where = `WHERE id = ${String(id)}`;
			await sql(this.postgres?.port ?? 0, `UPDATE ${TABLE} SET due_at = now() ${where}`);
		} else {
			const dueAt = new Date().toISOString();
			await this.field.api.updateDataTableRow(await this.dataTable(), id, { dueAt });
		}
	}

	private async dataTable(): Promise<DataTable> {
		const tables = await this.field.api.dataTables();
		const table = tables.find(({ name }) => name === TABLE);
		if (!table) throw new Error(`There is no table ${TABLE}`);
		return table;
	}

	/** On n8n 1, a person creates the table and chooses it in the nodes. */
	private async prepareDataTable({ nodes }: WorkflowContent): Promise<void> {
		const creating = nodes.find(({ name }) => name === 'Create the table');
		const { column } = creating?.parameters.columns as {
			column: Array<{ name: string; type: 'string' | 'number' | 'date' }>;
		};
		const types = Object.fromEntries(column.map(({ name, type }) => [name, type]));
		const { id } = await this.field.api.createDataTable(TABLE, types);
		for (const { parameters } of nodes) {
			if (parameters.dataTableId !== undefined) {
				parameters.dataTableId = { __rl: true, mode: 'list', value: id };
			}
		}
	}

	private async preparePostgres({ nodes }: WorkflowContent): Promise<void> {
		this.postgres = await startPostgres();
		const data = {
			host: '127.0.0.1',
			port: this.postgres.port,
			database: 'postgres',
			user: 'postgres',
			password: 'none',
			ssl: 'disable',
		};
		const { id, name } = await this.field.api.createCredential({
			name: 'Postgres account',
			type: 'postgres',
			data,
		});
		for (const node of nodes) {
			if (node.credentials?.postgres) node.credentials = { postgres: { id, name } };
		}
	}
}

/** Where the form asks whether the next page is there. */
function statusOf(page: string): URL {
	const url = new URL(page);
	url.pathname += '/n8n-execution-status';
	return url;
}

function changeSettings(
	parameters: Record<string, unknown>,
	settings: Record<string, number>,
): void {
	const { assignments } = parameters.assignments as {
		assignments: Array<{ name: string; value: unknown }>;
	};
	for (const assignment of assignments) {
		assignment.value = settings[assignment.name] ?? assignment.value;
	}
}
