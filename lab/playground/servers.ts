import { existsSync, globSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { ProcessGroup, freePort, run } from './processes';

/** A server on 127.0.0.1. */
export interface Server {
	readonly port: number;
	/** Ends it and removes its data. */
	close(): Promise<void>;
}

/** Starts a server, and resolves when it works. @param check a command that fails as long as it does not */
async function startServer(
	port: number,
	folder: string,
	command: string[],
	[check, ...args]: [string, ...string[]],
): Promise<Server> {
	const group = new ProcessGroup(command, folder, 'ignore');
	const close = async () => {
		await group.stop();
		await rm(folder, { recursive: true, force: true });
	};
	try {
		await group.untilReady(() => run(program(check), args));
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
	const command = [server, '--port', String(port), '--bind', '127.0.0.1', '--save', ''];
	return await startServer(port, folder, command, ['redis-cli', '-p', String(port), 'ping']);
}

/** An empty PostgreSQL, with a user and a database `postgres` and no password. */
export async function startPostgres(): Promise<Server> {
	const [initdb, postgres] = [program('initdb'), program('postgres')];
	const port = await freePort();
	const folder = await mkdtemp(join(tmpdir(), 'leadgen-postgres-'));
	// PostgreSQL refuses to run as root.
	const isRoot = process.getuid?.() === 0;
	if (isRoot) await run('chown', ['postgres:', folder]);
	const user = isRoot ? ['--reuid', 'postgres', '--regid', 'postgres', '--clear-groups'] : [];
	const settings = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
	await run('setpriv', [...user, initdb, '-D', folder, ...settings], { cwd: folder });
	const place = ['-h', '127.0.0.1', '-p', String(port)];
	const command = ['setpriv', ...user, postgres, '-D', folder, ...place, '-k', '', '-F'];
	return await startServer(port, folder, command, ['pg_isready', ...place]);
}

/** Runs SQL there. */
export async function sql(port: string, query: string): Promise<void> {
	const place = ['-h', '127.0.0.1', '-p', port, '-U', 'postgres'];
	await run(program('psql'), [...place, '-c', query]);
}

/** The path of a program; Debian keeps those of PostgreSQL apart. */
function program(name: string): string {
	const folders = globSync('/usr/lib/postgresql/*/bin');
	folders.push(...(process.env.PATH ?? '').split(delimiter));
	const path = folders.map((folder) => join(folder, name)).find(existsSync);
	if (path !== undefined) return path;
	throw new Error(
		`${name} is missing. Queue mode needs Redis and PostgreSQL: apt-get install redis-server postgresql`,
	);
}
