import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { run, withLock } from './processes';
import { type N8nVersion, ROOT, STATE_FOLDER, findN8n } from './versions';

/** pnpm takes a tenth of the time that npm takes for the thousands of packages of n8n. */
const PNPM = join(ROOT, 'node_modules/.bin/pnpm');
const OPTIONS = [
	'--ignore-workspace',
	'--reporter=append-only',
	// As npm lays packages out, which n8n is made for.
	'--config.node-linker=hoisted',
	'--config.confirm-modules-purge=false',
];

/**
 * Installs n8n; does nothing if it is there.
 * @throws with the output of pnpm if it fails
 */
export async function installN8n(version: N8nVersion): Promise<void> {
	const { folder } = version;
	// Written at the end, so that an install that is broken off does not count.
	const record = join(folder, 'node_modules/.installed');
	await withLock(join(STATE_FOLDER, `install-${version.version}.pid`), async () => {
		if ((await read(record)) === (await hashOfPackages(folder))) return;
		await rm(record, { force: true });
		await install(version);
		await writeFile(record, await hashOfPackages(folder));
	});
}

async function install({ version, line, folder, isLocked }: N8nVersion): Promise<void> {
	const options = { cwd: folder, env: withLocalHeaders() };
	const pnpm = async (...args: string[]) => await run(PNPM, [...args, ...OPTIONS], options);
	// Without the size of pnpm's own store.
	const size = line === '1' ? '1.4 GB' : '2.2 GB';
	console.log(`Installing n8n ${version} (2 to 4 minutes, ${size}, once) …`);
	const frozen = isLocked ? '--frozen-lockfile' : '--no-frozen-lockfile';
	await pnpm('install', '--ignore-scripts', frozen);
	// Install scripts, of those that the package.json allows. n8n's own Node first, as the others are built for it.
	for (const name of ['node', 'isolated-vm']) await pnpm('rebuild', name);
	// Where it is not prebuilt, it takes a minute and a half. So the first n8n keeps it for the others.
	const sqlite3 = join(folder, 'node_modules/sqlite3');
	const { version: itsVersion } = JSON.parse(await read(join(sqlite3, 'package.json'))) as {
		version: string;
	};
	const kept = join(STATE_FOLDER, `sqlite3-${itsVersion}`);
	if (existsSync(kept)) await cp(kept, join(sqlite3, 'build'), { recursive: true });
	else {
		await pnpm('rebuild', 'sqlite3');
		await cp(
			join(sqlite3, 'build/Release/node_sqlite3.node'),
			join(kept, 'Release/node_sqlite3.node'),
		);
	}
}

async function hashOfPackages(folder: string): Promise<string> {
	const files = ['package.json', 'pnpm-lock.yaml'].map((name) => read(join(folder, name)));
	return hash('sha256', (await Promise.all(files)).join(''));
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
	void installN8n(findN8n(process.argv[2] ?? '2'));
}
