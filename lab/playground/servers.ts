import { once } from 'node:events';
import { existsSync, globSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { freePort } from './n8n';
import { ProcessGroup, run, succeeds } from './processes';

const START_TIMEOUT_MS = 60_000;

/** A server on 127.0.0.1. */
export interface Server {
	readonly port: number;
	/** Ends it and removes its data. */
	close(): Promise<void>;
}

/** @param command with the signal before it that ends it when we are killed outright */
async function startServer(
	port: number,
	command: string[],
	folder: string,
	isUp: () => Promise<boolean>,
): Promise<Server> {
	const options = { cwd: folder, stdio: 'ignore' } as const;
	const group = new ProcessGroup('setpriv', ['--pdeathsig', ...command], options);
	const close = async () => {
		await group.stop();
		await rm(folder, { recursive: true, force: true });
	};
	try {
		await group.untilReady(isUp, START_TIMEOUT_MS);
		return { port, close };
	} catch (error) {
		await close();
		throw error;
	}
}

export async function startRedis(): Promise<Server> {
	const server = program('redis-server');
	const port = await freePort();
	const folder = await mkdtemp(join(tmpdir(), 'leadgen-redis-'));
	const command = ['TERM', server, '--port', String(port), '--bind', '127.0.0.1', '--save', ''];
	return await startServer(port, command, folder, () => succeeds(redis(port, 'PING')));
}

/** Sends Redis a command, such as `CONFIG SET maxmemory 1`. @returns its answer */
export async function redis(port: number, command: string): Promise<string> {
	const socket = connect(port, '127.0.0.1');
	socket.write(`${command}\r\n`);
	const [answer] = (await once(socket, 'data')) as [Buffer];
	socket.destroy();
	return answer.toString().trim();
}

/** An empty PostgreSQL, with a user and a database `postgres` and no password. */
export async function startPostgres(): Promise<Server> {
	const [initdb, postgres] = [program('initdb'), program('postgres')];
	const folder = await mkdtemp(join(tmpdir(), 'leadgen-postgres-'));
	if (isRoot()) await run('chown', ['postgres:', folder]);

	const settings = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
	const make = ['--pdeathsig', 'TERM', ...unprivileged(), initdb, '-D', folder, ...settings];
	await run('setpriv', make, { cwd: folder });
	const port = await freePort();
	const place = ['-D', folder, '-h', '127.0.0.1', '-p', String(port), '-k', ''];
	// It ends at once, rather than when all of its clients have gone.
	const command = ['INT', ...unprivileged(), postgres, ...place, '-F'];
	return await startServer(port, command, folder, () => succeeds(sql(port, 'SELECT 1')));
}

/** Runs SQL there. @returns what psql prints: a line for each row, without headers */
export async function sql(port: number, query: string): Promise<string> {
	const place = ['-h', '127.0.0.1', '-p', String(port), '-U', 'postgres'];
	return (await run(program('psql'), [...place, '-Atc', query])).trim();
}

/** The path of a program; Debian keeps those of PostgreSQL apart. */
function program(name: string): string {
	const folders = (process.env.PATH ?? '').split(delimiter);
	folders.unshift(...globSync('/usr/lib/postgresql/*/bin'));
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
