import { randomUUID } from 'node:crypto';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { LEADERSHIP_HOOKS, setRole, startN8n } from './n8n';
import { freePort, type ProcessGroup } from './processes';
import { type Server, sql, startPostgres, startRedis } from './servers';
import type { N8nVersion } from './versions';

/** The processes of n8n, each with what it is started as. */
const COMMANDS = {
	main: 'start',
	main2: 'start',
	webhook1: 'webhook',
	webhook2: 'webhook',
	worker1: 'worker',
	worker2: 'worker',
} as const;
export type Role = keyof typeof COMMANDS;

/**
 * n8n in queue mode: PostgreSQL, Redis, a main process with the editor and the triggers, workers that
 * execute, and a webhook process that takes all production requests; a second one has an address of its own.
 * An expression sees in `$env.PROCESS_ROLE` which of them it runs in.
 */
export class QueueMode {
	private readonly processes = new Map<Role, ProcessGroup>();
	private readonly ports = new Map<Role, number>();
	private redis: Server | undefined;
	private postgres: Server | undefined;
	private env: Record<string, string> = {};

	/**
	 * @param folder where the package is installed; the processes get folders of their own in it
	 * @param port of the editor and its API
	 */
	constructor(
		private readonly version: N8nVersion,
		private readonly folder: string,
		port: number,
	) {
		this.ports.set('main', port);
	}

	/** Starts a main process, a webhook process and two workers. {@link close} ends what did start. */
	async open(env: Record<string, string>): Promise<void> {
		this.redis = await startRedis();
		this.postgres = await startPostgres();
		this.ports.set('webhook1', await freePort());
		this.env = {
			EXECUTIONS_MODE: 'queue',
			DB_TYPE: 'postgresdb',
			DB_POSTGRESDB_HOST: '127.0.0.1',
			DB_POSTGRESDB_PORT: String(this.postgres.port),
			DB_POSTGRESDB_DATABASE: 'postgres',
			DB_POSTGRESDB_USER: 'postgres',
			QUEUE_BULL_REDIS_HOST: '127.0.0.1',
			QUEUE_BULL_REDIS_PORT: String(this.redis.port),
			QUEUE_HEALTH_CHECK_ACTIVE: 'true',
			// The jobs of a worker that was killed are noticed within seconds rather than a minute and a half.
			QUEUE_WORKER_LOCK_DURATION: '20000',
			QUEUE_WORKER_LOCK_RENEW_TIME: '5000',
			QUEUE_WORKER_STALLED_INTERVAL: '5000',
			N8N_WORKER_SERVER_ADDRESS: '127.0.0.1',
			N8N_ENCRYPTION_KEY: randomUUID(),
			N8N_DISABLE_PRODUCTION_MAIN_PROCESS: 'true',
			N8N_BLOCK_ENV_ACCESS_IN_NODE: 'false',
			EXTERNAL_HOOK_FILES: LEADERSHIP_HOOKS,
			WEBHOOK_URL: `${this.url('webhook1')}/`,
			...env,
		};
		// It creates the tables.
		await this.start('main');
		const others = ['webhook1', 'worker1', 'worker2'] as const;
		await Promise.all(others.map((role) => this.start(role)));
	}

	/** Ends everything, whatever of it runs. */
	async close(): Promise<void> {
		await Promise.all([...this.processes.values()].map((n8n) => n8n.stop()));
		await this.postgres?.close();
		await this.redis?.close();
	}

	/** The address of one process. */
	url(role: Role): string {
		return `http://127.0.0.1:${String(this.ports.get(role))}`;
	}

	/**
	 * Starts a process, or starts it again, unless it runs; resolves when it is ready.
	 * @param follows it is a main process that leads for a moment, and then follows until it is told to lead
	 */
	async start(role: Role, follows = false): Promise<void> {
		if (this.processes.has(role)) return;
		const { version } = this;
		const port = this.ports.get(role) ?? (await freePort());
		this.ports.set(role, port);
		const userFolder = join(this.folder, role);
		const packages = '.n8n/nodes';
		await cp(join(this.folder, packages), join(userFolder, packages), { recursive: true });
		const env = { ...this.env, PROCESS_ROLE: role, QUEUE_HEALTH_CHECK_PORT: String(port) };
		const n8n = await startN8n({ version, command: COMMANDS[role], userFolder, port, env });
		this.processes.set(role, n8n);
		if (follows) await this.setRole(role, 'follower');
	}

	/** Ends a process as a power cut would. */
	async kill(role: Role): Promise<void> {
		await this.processes.get(role)?.kill();
		this.processes.delete(role);
	}

	/** A main process leads, or follows another one that does. */
	async setRole(process: Role, role: 'leader' | 'follower'): Promise<void> {
		await setRole(this.url(process), role);
	}

	/** Runs SQL in the database of n8n. @returns a line for each row */
	async sql(query: string): Promise<string> {
		return await sql(this.postgres?.port ?? 0, query);
	}
}
