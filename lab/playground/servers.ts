import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { freePort } from './n8n';
import { ProcessGroup, run, succeeds } from './processes';

const START_TIMEOUT_MS = 60_000;

/** A server on 127.0.0.1 that keeps its data in a folder of its own, also when it is killed and started again. */
export class Server {
	private group: ProcessGroup | undefined;

	/** @param command with the signal before it that ends it when we are killed outright */
	constructor(
		readonly port: number,
		private readonly command: string[],
		private readonly folder: string,
		private readonly isUp: () => Promise<boolean>,
	) {}

	async start(): Promise<void> {
		this.group = new ProcessGroup('setpriv', ['--pdeathsig', ...this.command], {
			cwd: this.folder,
			stdio: 'ignore',
		});
		await this.group.untilReady(this.isUp, START_TIMEOUT_MS);
	}

	/** Ends it as a power cut would. */
	async kill(): Promise<void> {
		await this.group?.kill();
	}

	/** Ends it and removes its data. */
	async close(): Promise<void> {
		await this.group?.stop();
		await rm(this.folder, { recursive: true, force: true });
	}
}

async function opened(server: Server): Promise<Server> {
	try {
		await server.start();
		return server;
	} catch (error) {
		await server.close();
		throw error;
	}
}

export async function startRedis(): Promise<Server> {
	const server = await program('redis-server');
	const port = await freePort();
	const folder = await mkdtemp(join(tmpdir(), 'leadgen-redis-'));
	const place = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder];
	const command = ['TERM', server, ...place, '--save', '', '--appendonly', 'yes'];
	return await opened(new Server(port, command, folder, () => accepts(port)));
}

/** An empty PostgreSQL, with a user and a database `postgres` and no password. */
export async function startPostgres(): Promise<Server> {
	const [initdb, postgres] = [await program('initdb'), await program('postgres')];
	const isReady = await program('pg_isready');
	const folder = await mkdtemp(join(tmpdir(), 'leadgen-postgres-'));
	if (isRoot()) await run('chown', ['postgres:', folder]);

	const settings = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
	const make = ['--pdeathsig', 'TERM', ...unprivileged(), initdb, '-D', folder, ...settings];
	await run('setpriv', make, { cwd: folder });
	const port = await freePort();
	const place = ['-D', folder, '-h', '127.0.0.1', '-p', String(port), '-k', ''];
	// It ends at once, rather than when all of its clients have gone.
	const command = ['INT', ...unprivileged(), postgres, ...place, '-F'];
	const check = ['-h', '127.0.0.1', '-p', String(port), '-q'];
	const isUp = () => succeeds(run(isReady, check));
	return await opened(new Server(port, command, folder, isUp));
}

/** Runs SQL there. @returns what psql prints: a line for each row, without headers */
export async function sql(port: number, query: string): Promise<string> {
	const place = ['-h', '127.0.0.1', '-p', String(port), '-U', 'postgres'];
	return (await run(await program('psql'), [...place, '-Atc', query])).trim();
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

async function accepts(port: number): Promise<boolean> {
	const socket = connect(port, '127.0.0.1');
	const isConnected = await succeeds(once(socket, 'connect'));
	socket.destroy();
	return isConnected;
}
