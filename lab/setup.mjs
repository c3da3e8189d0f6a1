/**
 * Makes sure that the packages of package-lock.json are installed. Needs nothing but Node and npm, so that the
 * other npm scripts can begin with it in a fresh clone.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = resolve(fileURLToPath(import.meta.url), '../..');

/** What npm notes down at the end of an install. */
const record = 'node_modules/.package-lock.json';

if (!isInstalled()) {
	console.log('Installing development dependencies (about 1 minute, once) …');
	// Its record goes first, so that an install that is broken off never counts as done.
	rmSync(join(folder, record), { force: true });
	const args = ['ci', '--no-audit', '--no-fund', '--loglevel=error'];
	const { status } = spawnSync('npm', args, { cwd: folder, stdio: 'inherit' });
	process.exitCode = status ?? 1;
}

/** Whether npm's own record of what it installed has all that the lock file asks for. */
function isInstalled() {
	const wanted = readPackages('package-lock.json');
	const present = readPackages(record);
	return Object.entries(wanted).every(
		([path, { version, optional, devOptional }]) =>
			path === '' ||
			present[path]?.version === version ||
			(!present[path] && (optional || devOptional)),
	);
}

function readPackages(file) {
	try {
		return JSON.parse(readFileSync(join(folder, file), 'utf8')).packages;
	} catch (error) {
		if (error.code === 'ENOENT') return {};
		throw error;
	}
}
