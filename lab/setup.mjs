/**
 * Makes sure that the packages of package-lock.json are installed. Needs nothing but Node and npm, so that the
 * other npm scripts can begin with it in a fresh clone.
 */
import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = resolve(fileURLToPath(import.meta.url), '../..');

/** What npm notes down at the end of an install. */
const record = 'node_modules/.package-lock.json';

const [major] = process.versions.node.split('.');
if (Number(major) < 20) {
	console.error(`This needs Node 20 or newer, and this is Node ${process.versions.node}.`);
	process.exit(1);
}

if (!isInstalled()) {
	console.log('Installing development dependencies (about 1 minute, once) …');
	process.exitCode = await install();
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

/** Installs them, silent but for a line now and then, and gives its exit code. */
function install() {
	const began = Date.now();
	const elapsed = () => `${Math.round((Date.now() - began) / 1000)} s`;
	const timer = setInterval(() => console.log(`  … ${elapsed()}`), 10_000);
	// Its record goes first, so that an install that is broken off never counts as done.
	rmSync(join(folder, record), { force: true });
	const posix = process.platform !== 'win32';
	// The output is for failures only: hundreds of warnings about packages that are not ours.
	const npm = spawn('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
		cwd: folder,
		stdio: ['ignore', 'pipe', 'pipe'],
		shell: !posix,
		detached: posix,
	});
	for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
		// With SIGTERM, npm takes a minute to undo its work, and the next install begins anew anyway.
		process.once(signal, () => {
			if (posix) process.kill(-npm.pid, 'SIGKILL');
			else npm.kill();
			process.exit(130);
		});
	}
	let output = '';
	for (const stream of [npm.stdout, npm.stderr]) stream.on('data', (text) => (output += text));
	return new Promise((done) => {
		npm.on('error', (error) => (output += error.message));
		npm.on('close', (code) => {
			clearInterval(timer);
			if (code === 0) console.log(`  done in ${elapsed()}`);
			else console.error(`${output}\nnpm ci in ${folder} failed; see above.`);
			done(code === 0 ? 0 : 1);
		});
	});
}
