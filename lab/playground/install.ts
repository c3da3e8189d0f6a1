import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { withLock } from './lockFile';
import { run } from './processes';
import { type N8nVersion, ROOT, STATE_FOLDER, VERSIONS, findN8n, writeRecipe } from './versions';

/** pnpm takes a tenth of the time that npm takes for the thousands of packages of n8n. */
const PNPM = join(ROOT, 'node_modules/.bin/pnpm');
const OPTIONS = [
	'--ignore-workspace',
	'--reporter=append-only',
	// As npm lays packages out, which n8n is made for.
	'--config.node-linker=hoisted',
	'--config.confirm-modules-purge=false',
];
const SQLITE = 'node_modules/sqlite3';
/** Written at the end, so that an install that is broken off does not count. */
const RECORD = 'node_modules/.installed';

/**
 * Installs n8n; does nothing if it is there.
 * @throws with the output of pnpm if it fails
 */
export async function installN8n(version: N8nVersion): Promise<void> {
	const busy = join(STATE_FOLDER, `install-${version.version}.pid`);
	await withLock(busy, () => installIfMissing(version));
}

async function installIfMissing(version: N8nVersion): Promise<void> {
	writeRecipe(version);
	const record = join(version.folder, RECORD);
	if ((await read(record)) === (await hashOfRecipe(version))) return;
	await rm(record, { force: true });
	await install(version);
	await writeFile(record, await hashOfRecipe(version));
}

async function install({ version, folder }: N8nVersion): Promise<void> {
	const pnpm = async (...args: string[]) =>
		await run(PNPM, [...args, ...OPTIONS], { cwd: folder, env: withLocalHeaders() });
	// Only what git holds has a lock file that is to be kept.
	const isLocked = !folder.startsWith(STATE_FOLDER);
	console.log(`Installing n8n ${version} (about 3 minutes and 1.5 GB, once) …`);
	await pnpm(
		'install',
		'--ignore-scripts',
		isLocked ? '--frozen-lockfile' : '--no-frozen-lockfile',
	);
	// Install scripts, of those that the package.json allows. n8n's own Node first, as the others are built for it.
	for (const name of ['node', 'isolated-vm', 'sqlite3']) {
		if (name !== 'sqlite3' || !(await copySqlite(folder))) await pnpm('rebuild', name);
	}
}

/**
 * Where sqlite3 is not prebuilt, it takes two minutes to compile. One build does for all versions of Node.
 * @returns whether another n8n here had it
 */
async function copySqlite(folder: string): Promise<boolean> {
	const build = join(SQLITE, 'build/Release/node_sqlite3.node');
	const wanted = await read(join(folder, SQLITE, 'package.json'));
	for (const version of VERSIONS) {
		const other = findN8n(version).folder;
		if (![RECORD, build].every((file) => existsSync(join(other, file)))) continue;
		if ((await read(join(other, SQLITE, 'package.json'))) !== wanted) continue;
		await cp(join(other, build), join(folder, build));
		return true;
	}
	return false;
}

async function hashOfRecipe({ folder }: N8nVersion): Promise<string> {
	const hash = createHash('sha256');
	for (const file of ['package.json', 'pnpm-lock.yaml'])
		hash.update(await read(join(folder, file)));
	return hash.digest('hex');
}

async function read(file: string): Promise<string> {
	return existsSync(file) ? await readFile(file, 'utf8') : '';
}

/**
 * Where Node's own headers are on this machine, for a native module that is not prebuilt for it (sqlite3):
 * so it can be built without a download. Headers of any Node will do for the stable Node-API.
 */
function withLocalHeaders(): NodeJS.ProcessEnv {
	const prefixes = (process.env.PATH ?? '').split(delimiter).map((folder) => resolve(folder, '..'));
	const nodedir = prefixes.find((prefix) => existsSync(join(prefix, 'include/node/node_api.h')));
	return { ...(nodedir !== undefined && { npm_config_nodedir: nodedir }), ...process.env };
}

/** `tsx lab/playground/install.ts 2` installs a version before it is needed. */
if (require.main === module) {
	installN8n(findN8n(process.argv[2] ?? '2')).catch((error: unknown) => {
		console.error(error instanceof Error ? error.message : error);
		process.exitCode = 1;
	});
}
