import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { type Server, type Socket, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
	LEADERSHIP_HOOKS,
	type N8n,
	type N8nCommand,
	type N8nLine,
	freePort,
	setRole,
	startN8n,
} from './n8n';
import { ProcessGroup, run } from './processes';

/** The processes of n8n, each with what it is started as. */
const COMMANDS = {
	main: 'start',
	main2: 'start',
	webhook1: 'webhook',
	webhook2: 'webhook',
	worker1: 'worker',
	worker2: 'worker',
} as const satisfies Record<string, N8nCommand>;
export type Role = keyof typeof COMMANDS;

export interface QueueModeOptions {
	line: N8nLine;
	/** Where the package is installed. The processes get folders of their own in it. */
	folder: string;
	/** Of the editor and its API. */
	port: number;
	/** Further environment variables of all processes. */
	env?: Record<string, string>;
}

/**
 * n8n in queue mode: PostgreSQL, Redis, a main process with the editor and the triggers, workers that
 * execute, and webhook processes, alone or several behind a balancer, that take all production
 * requests. An expression sees in `$env.PROCESS_ROLE` which of them it runs in.
 */
export class QueueMode {
	private readonly processes = new Map<Role, N8n>();
	private readonly ports = new Map<Role, number>();
	/** Undoes what was started, the last first. */
	private readonly cleanups: Array<() => Promise<void>> = [];
	private env: Record<string, string> = {};
	private webhookPort = 0;
	private redisPort = 0;

	constructor(private readonly options: QueueModeOptions) {
		this.ports.set('main', options.port);
	}

	/** Starts everything that `roles` names, and what these need. */
	async open(roles: Role[]): Promise<void> {
		try {
			const redisPort = await this.openRedis();
			const postgresPort = await this.openPostgres();
			this.webhookPort = await this.openBalancer();
			this.cleanups.push(async () => {
				await Promise.all([...this.processes.values()].map((n8n) => n8n.stop()));
			});
			this.env = {
				EXECUTIONS_MODE: 'queue',
				DB_TYPE: 'postgresdb',
				DB_POSTGRESDB_HOST: '127.0.0.1',
				DB_POSTGRESDB_PORT: String(postgresPort),
				DB_POSTGRESDB_DATABASE: 'postgres',
				DB_POSTGRESDB_USER: 'postgres',
				QUEUE_BULL_REDIS_HOST: '127.0.0.1',
				QUEUE_BULL_REDIS_PORT: String(redisPort),
				QUEUE_HEALTH_CHECK_ACTIVE: 'true',
				N8N_WORKER_SERVER_ADDRESS: '127.0.0.1',
				N8N_ENCRYPTION_KEY: randomUUID(),
				N8N_DISABLE_PRODUCTION_MAIN_PROCESS: 'true',
				N8N_BLOCK_ENV_ACCESS_IN_NODE: 'false',
				WEBHOOK_URL: `${this.webhookUrl}/`,
				...this.options.env,
			};
			// It creates the tables.
			await this.start('main');
			await Promise.all(roles.filter((role) => role !== 'main').map((role) => this.start(role)));
		} catch (error) {
			await this.close();
			throw error;
		}
	}

	/** Ends everything, whatever of it runs. */
	async close(): Promise<void> {
		for (const cleanUp of this.cleanups.splice(0).reverse()) await cleanUp();
	}

	/** Where production URLs begin: one of the webhook processes answers. */
	get webhookUrl(): string {
		return `http://127.0.0.1:${String(this.webhookPort)}`;
	}

	/** The address of one process. */
	url(role: Role): string {
		return `http://127.0.0.1:${String(this.ports.get(role))}`;
	}

	/**
	 * Starts a process, or starts it again, unless it runs; resolves when it is ready.
	 * @param follows it is a main process that does not lead until it is told to
	 */
	async start(role: Role, follows = false): Promise<void> {
		if (this.processes.has(role)) return;
		const { line, folder } = this.options;
		const port = this.ports.get(role) ?? (await freePort());
		this.ports.set(role, port);
		const userFolder = join(folder, role);
		await cp(join(folder, '.n8n/nodes'), join(userFolder, '.n8n/nodes'), { recursive: true });
		const command = COMMANDS[role];
		const env = {
			...this.env,
			PROCESS_ROLE: role,
			QUEUE_HEALTH_CHECK_PORT: String(port),
			...(command === 'start' && { EXTERNAL_HOOK_FILES: LEADERSHIP_HOOKS }),
			FOLLOWS_AT_START: String(follows),
		};
		this.processes.set(role, await startN8n({ line, command, userFolder, port, env }));
	}

	/** Ends a process as a service manager does. */
	async stop(role: Role): Promise<void> {
		await this.processes.get(role)?.stop();
		this.processes.delete(role);
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

	/** Sends Redis a command, such as `CONFIG SET maxmemory 1`. @returns its answer */
	async redis(command: string): Promise<string> {
		return await new Promise((resolve, reject) => {
			const socket = connect(this.redisPort, '127.0.0.1', () => socket.write(`${command}\r\n`));
			socket.once('error', reject).once('data', (answer) => {
				socket.destroy();
				resolve(answer.toString().trim());
			});
		});
	}

	private async openRedis(): Promise<number> {
		const server = await program('redis-server');
		const port = await freePort();
		this.redisPort = port;
		const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', ''];
		const group = endingWithUs('TERM', [server, ...args], tmpdir());
		this.cleanups.push(() => group.stop());
		await untilUp('redis-server', group, () => accepts(port));
		return port;
	}

	private async openPostgres(): Promise<number> {
		const [initdb, postgres] = [await program('initdb'), await program('postgres')];
		const isReady = await program('pg_isready');
		const folder = await mkdtemp(join(tmpdir(), 'leadgen-postgres-'));
		this.cleanups.push(() => rm(folder, { recursive: true, force: true }));
		if (isRoot()) await run('chown', ['postgres:', folder]);

		const settings = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
		const make = ['--pdeathsig', 'TERM', ...unprivileged(), initdb, '-D', folder, ...settings];
		await run('setpriv', make, { cwd: folder });
		const port = await freePort();
		const place = ['-D', folder, '-h', '127.0.0.1', '-p', String(port), '-k', ''];
		// It ends at once, rather than when all of its clients have gone.
		const command = [...unprivileged(), postgres, ...place, '-F'];
		const group = endingWithUs('INT', command, folder);
		this.cleanups.push(() => group.stop());
		const check = ['-h', '127.0.0.1', '-p', String(port), '-q'];
		await untilUp('postgres', group, () =>
			run(isReady, check).then(
				() => true,
				() => false,
			),
		);
		return port;
	}

	private async openBalancer(): Promise<number> {
		const balancer = new Balancer(() => this.webhookPorts());
		this.cleanups.push(() => balancer.close());
		return await balancer.listen();
	}

	private webhookPorts(): number[] {
		const isWebhook = ([role]: [Role, number]) => COMMANDS[role] === 'webhook';
		return [...this.ports].filter(isWebhook).map(([, port]) => port);
	}
}

/** Passes each connection on to the next of several ports that accepts it. */
class Balancer {
	private readonly server: Server;
	private readonly sockets = new Set<Socket>();
	private count = 0;

	constructor(private readonly ports: () => number[]) {
		this.server = createServer((client) => {
			this.add(client);
			const ports = this.ports();
			const first = this.count++ % Math.max(1, ports.length);
			this.pass(client, [...ports.slice(first), ...ports.slice(0, first)]);
		});
	}

	async listen(): Promise<number> {
		const port = await freePort();
		await new Promise<void>((resolve) => this.server.listen(port, '127.0.0.1', resolve));
		return port;
	}

	async close(): Promise<void> {
		const closed = new Promise((resolve) => this.server.close(resolve));
		for (const socket of this.sockets) socket.destroy();
		await closed;
	}

	private pass(client: Socket, [port, ...others]: number[]): void {
		if (port === undefined || client.destroyed) {
			client.destroy();
			return;
		}
		let isConnected = false;
		const target = connect(port, '127.0.0.1', () => {
			isConnected = true;
			client.pipe(target).pipe(client);
			client.once('close', () => target.destroy());
		});
		this.add(target);
		target.once('close', () => {
			if (isConnected) client.destroy();
			else this.pass(client, others);
		});
	}

	private add(socket: Socket): void {
		this.sockets.add(socket);
		// What follows is 'close', in any case.
		socket.on('error', () => {});
		socket.once('close', () => this.sockets.delete(socket));
	}
}

/** The path of a program; Debian keeps those of PostgreSQL apart. */
async function program(name: string): Promise<string> {
	const apart = '/usr/lib/postgresql';
	const versions = await readdir(apart).catch(() => []);
	const folders = versions.map((version) => join(apart, version, 'bin'));
	folders.push(...(process.env.PATH ?? '').split(delimiter));
	const path = folders.map((folder) => join(folder, name)).find(existsSync);
	if (path !== undefined) return path;
	throw new Error(
		`${name} is missing. Queue mode needs Redis and PostgreSQL: apt-get install redis-server postgresql`,
	);
}

function isRoot(): boolean {
	return process.getuid?.() === 0;
}

/** Arguments of setpriv for PostgreSQL, which refuses to run as root. */
function unprivileged(): string[] {
	return isRoot() ? ['--reuid', 'postgres', '--regid', 'postgres', '--clear-groups'] : [];
}

/** Starts a program that ends, by `signal`, also when we are killed outright. */
function endingWithUs(signal: 'TERM' | 'INT', command: string[], cwd: string): ProcessGroup {
	const args = ['--pdeathsig', signal, ...command];
	return new ProcessGroup('setpriv', args, { cwd, stdio: 'ignore' });
}

async function untilUp(
	name: string,
	group: ProcessGroup,
	check: () => Promise<boolean>,
): Promise<void> {
	const deadline = Date.now() + 60_000;
	while (!(await check())) {
		if (!group.isRunning) throw new Error(`${name} ended with ${await group.ended}`);
		if (Date.now() > deadline) throw new Error(`${name} does not get ready`);
		await sleep(100);
	}
}

async function accepts(port: number): Promise<boolean> {
	return await new Promise((resolve) => {
		const socket = connect(port, '127.0.0.1', () => {
			socket.destroy();
			resolve(true);
		});
		socket.once('error', () => {
			resolve(false);
		});
	});
}
