import { once } from 'node:events';
import { existsSync, globSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { ProcessGroup, freePort, run } from './processes';

/** A server on 127.0.0.1. */
export interface Server {
	readonly port: number;
	/** Ends it and removes its data. */
	close(): Promise<void>;
}

/** Starts a server, and resolves when it works. @param check throws as long as it does not */
async function startServer(
	port: number,
	folder: string,
	command: string[],
	check: () => Promise<unknown>,
): Promise<Server> {
	const group = new ProcessGroup(command, folder, 'ignore');
	const close = async () => {
		await group.stop();
		await rm(folder, { recursive: true, force: true });
	};
	try {
		await group.untilReady(check);
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
	return await startServer(port, folder, command, async () => {
		const socket = connect(port, '127.0.0.1');
		await once(socket, 'connect');
		socket.destroy();
	});
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
	const place = ['-D', folder, '-h', '127.0.0.1', '-p', String(port), '-k', ''];
	const command = ['setpriv', ...user, postgres, ...place, '-F'];
	return await startServer(port, folder, command, () => sql(port, 'SELECT 1'));
}

/** Runs SQL there. @returns what psql prints: a line for each row, without headers */
export async function sql(port: number, query: string): Promise<string> {
	const place = ['-h', '127.0.0.1', '-p', String(port), '-U', 'postgres'];
	return (await run(program('psql'), [...place, '-Atc', query])).trim();
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
