import { createHash, randomInt } from 'node:crypto';
import { type Dirent, closeSync, openSync } from 'node:fs';
import { mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { withLock } from './lockFile';
import { ProcessGroup, run } from './processes';
import { type N8nVersion, ROOT, STATE_FOLDER, hasModule } from './versions';

export type N8nCommand = 'start' | 'worker' | 'webhook';

export const PACKAGE_NAME = 'n8n-nodes-leadgen';
/** Top folders of the project that the package is not made of. */
const NOT_SOURCES = 'coverage dist docs examples lab node_modules test'.split(' ');
/** How n8n calls npm in the folder of a community package that it has unpacked. */
const NPM_INSTALL = (
	'install --audit=false --fund=false --bin-links=false --install-strategy=shallow ' +
	'--ignore-scripts=true --package-lock=false'
).split(' ');

/** For n8n's setting `EXTERNAL_HOOK_FILES`: then {@link setRole} works. */
export const LEADERSHIP_HOOKS = join(__dirname, 'leadership.ts');

/** Makes a main process lead or follow, as where several elect their leader. Resolves when it does. */
export async function setRole(url: string, role: 'leader' | 'follower'): Promise<void> {
	const response = await fetch(`${url}/leadership/${role}`, { method: 'POST' });
	if (!response.ok) throw new Error(`It does not become ${role}: ${await response.text()}`);
}

/** A running n8n. */
export interface N8n {
	/** The address of editor, API and webhooks, without a slash at the end. */
	readonly url: string;
	readonly logFile: string;
	readonly pid: number | undefined;
	/** Resolves when it ends, by whatever cause, with a word on how. */
	readonly ended: Promise<string>;
	/** Ends it as a service manager would. */
	stop(): Promise<void>;
	/** Ends it as a power cut would. */
	kill(): Promise<void>;
}

export interface N8nOptions {
	version: N8nVersion;
	/** Default: all of n8n; the others are its parts in queue mode. */
	command?: N8nCommand;
	/** Where it keeps `.n8n`: database, encryption key, community packages. */
	userFolder: string;
	/** Default: any free port. */
	port?: number;
	/** Further environment variables; they win over the defaults. */
	env?: Record<string, string>;
	/** Default: `n8n.log` in the user folder. */
	logFile?: string;
	signal?: AbortSignal;
}

/**
 * Builds and packs the package just as it is published, unless nothing that it is made of has
 * changed.
 * @returns the path of the tarball
 */
export async function packPackage(signal?: AbortSignal): Promise<string> {
	const busy = join(STATE_FOLDER, 'package.pid');
	return await withLock(busy, () => packIfChanged(signal), signal);
}

async function packIfChanged(signal?: AbortSignal): Promise<string> {
	const all = join(STATE_FOLDER, 'package');
	const folder = join(all, await hashOfSources());
	const tarball = async () => {
		const names = await readdir(folder).catch(() => []);
		return names.map((name) => join(folder, name))[0];
	};
	const existing = await tarball();
	if (existing !== undefined) return existing;

	console.log('Building and packing the package …');
	await rm(all, { recursive: true, force: true });
	await mkdir(`${folder}.new`, { recursive: true });
	await run('npm', ['run', 'build'], { cwd: ROOT, signal });
	await run('npm', ['pack', '--pack-destination', `${folder}.new`], { cwd: ROOT, signal });
	await rename(`${folder}.new`, folder);
	const packed = await tarball();
	if (packed === undefined) throw new Error('npm pack made no tarball');
	return packed;
}

async function hashOfSources(): Promise<string> {
	const top = await readdir(ROOT, { withFileTypes: true });
	const isSource = ({ name }: Dirent) => !name.startsWith('.') && !NOT_SOURCES.includes(name);
	const sources = await Promise.all(
		top.filter(isSource).map(async (entry) => {
			if (entry.isFile()) return [join(ROOT, entry.name)];
			const folder = join(ROOT, entry.name);
			const inside = await readdir(folder, { recursive: true, withFileTypes: true });
			return inside
				.filter((file) => file.isFile())
				.map(({ parentPath, name }) => join(parentPath, name));
		}),
	);
	const hash = createHash('sha256');
	for (const file of sources.flat().sort()) hash.update(file).update(await readFile(file));
	return hash.digest('hex').slice(0, 16);
}

/**
 * Installs a tarball for a user's n8n, by the steps that n8n takes for a community package itself;
 * only that n8n fetches the tarball from the npm registry.
 */
export async function installTarball(
	userFolder: string,
	tarball: string,
	signal?: AbortSignal,
): Promise<void> {
	const nodesFolder = join(userFolder, '.n8n/nodes');
	const folder = join(nodesFolder, 'node_modules', PACKAGE_NAME);
	await rm(folder, { recursive: true, force: true });
	await mkdir(folder, { recursive: true });
	await run('tar', ['-xzf', tarball, '-C', folder, '--strip-components=1'], { signal });

	// The peer dependency n8n-workflow is n8n's own; a second copy would break instanceof checks.
	const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
		version: string;
	};
	await writeJson(join(folder, 'package.json'), {
		...manifest,
		devDependencies: undefined,
		peerDependencies: undefined,
		optionalDependencies: undefined,
	});
	await run('npm', NPM_INSTALL, { cwd: folder, signal });
	await writeJson(join(nodesFolder, 'package.json'), {
		name: 'installed-nodes',
		private: true,
		dependencies: { [PACKAGE_NAME]: manifest.version },
	});
}

async function writeJson(file: string, content: unknown): Promise<void> {
	await writeFile(file, JSON.stringify(content, null, 2));
}

/** Starts n8n; resolves when it is ready for work. Listens on the loopback address only. */
export async function startN8n(options: N8nOptions): Promise<N8n> {
	const { version, command = 'start', userFolder, signal } = options;
	const modules = join(version.folder, 'node_modules');
	const port = options.port ?? (await freePort());
	const url = `http://127.0.0.1:${String(port)}`;
	const logFile = options.logFile ?? join(userFolder, 'n8n.log');
	await mkdir(userFolder, { recursive: true });
	const log = openSync(logFile, 'w');
	const args = ['--import', join(__dirname, 'endWithParent.ts'), join(modules, 'n8n/bin/n8n')];
	const group = new ProcessGroup(join(modules, 'node/bin/node'), [...args, command], {
		cwd: userFolder,
		env: {
			...inherited(),
			...QUIET,
			// With its compiled code at hand n8n starts a quarter faster.
			NODE_COMPILE_CACHE: join(STATE_FOLDER, 'compile-cache'),
			// Older versions do not know all of them, and would refuse to start.
			N8N_DISABLED_MODULES: NOT_NEEDED.filter((name) => hasModule(version, name)).join(','),
			N8N_USER_FOLDER: userFolder,
			N8N_HOST: '127.0.0.1',
			N8N_LISTEN_ADDRESS: '127.0.0.1',
			N8N_PORT: String(port),
			N8N_RUNNERS_BROKER_PORT: String(await freePort()),
			WEBHOOK_URL: `${url}/`,
			...options.env,
		},
		stdio: ['ignore', log, log],
	});
	closeSync(log);
	const n8n = {
		url,
		logFile,
		pid: group.child.pid,
		ended: group.ended,
		stop: () => group.stop(),
		kill: () => group.kill(),
	};
	try {
		await untilReady(n8n, command, group, signal);
	} catch (error) {
		await group.kill();
		throw error;
	}
	return n8n;
}

/** What n8n gets of our own environment: not a developer's settings of n8n, but those of npm. */
function inherited(): NodeJS.ProcessEnv {
	const names = ['PATH', 'HOME', 'USER', 'LANG', 'TMPDIR', 'TZ', 'NODE_EXTRA_CA_CERTS'];
	const isWanted = (name: string) => names.includes(name) || name.startsWith('npm_config_');
	return Object.fromEntries(Object.entries(process.env).filter(([name]) => isWanted(name)));
}

/**
 * Modules that have no part in a workflow: n8n's own assistants, and what takes a licence. Without them n8n starts
 * faster, and asks its servers for no list.
 */
const NOT_NEEDED = (
	'agents chat-hub external-secrets instance-ai ldap log-streaming mcp mcp-registry n8n-packages otel provisioning ' +
	'quick-connect source-control sso-oidc sso-saml token-exchange workflow-builder workflow-reviews'
).split(' ');

/** Nothing is sent home, and no banner or survey stands between a person and the canvas. */
const QUIET = {
	N8N_DIAGNOSTICS_ENABLED: 'false',
	N8N_DYNAMIC_BANNERS_ENABLED: 'false',
	N8N_ENFORCE_SETTINGS_FILE_PERMISSIONS: 'true',
	N8N_HIRING_BANNER_ENABLED: 'false',
	N8N_LICENSE_AUTO_RENEW_ENABLED: 'false',
	N8N_PERSONALIZATION_ENABLED: 'false',
	N8N_RUNNERS_ENABLED: 'true',
	N8N_SECURE_COOKIE: 'false',
	N8N_TEMPLATES_ENABLED: 'false',
	N8N_VERIFIED_PACKAGES_ENABLED: 'false',
	N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
	GENERIC_TIMEZONE: 'UTC',
};

const START_TIMEOUT_MS = 180_000;

async function untilReady(
	n8n: N8n,
	command: N8nCommand,
	group: ProcessGroup,
	signal?: AbortSignal,
): Promise<void> {
	const deadline = Date.now() + START_TIMEOUT_MS;
	while (!(await answers(n8n.url, command))) {
		signal?.throwIfAborted();
		const problem = !group.isRunning
			? `ended with ${await n8n.ended}`
			: Date.now() > deadline && 'does not get ready';
		if (problem !== false) {
			const log = await readFile(n8n.logFile, 'utf8');
			throw new Error(`n8n ${problem}; the end of ${n8n.logFile}:\n${log.slice(-3000)}`);
		}
		await sleep(200);
	}
}

async function answers(url: string, command: N8nCommand): Promise<boolean> {
	try {
		const ready = await fetch(`${url}/healthz/readiness`);
		// The others have no editor.
		if (command !== 'start') return ready.ok;
		const login = await fetch(`${url}/rest/login`);
		// While n8n starts, the second is a page that says so.
		return ready.ok && (login.headers.get('content-type') ?? '').includes('json');
	} catch {
		return false;
	}
}

/**
 * Ports from here on are those of outgoing connections, too (on Linux). One of them could take the port of an
 * n8n while it restarts.
 */
const FIRST_OUTGOING_PORT = 32_768;
const FIRST_PORT = 10_000;
const WORKERS = 16;
/**
 * n8n listens on a port only seconds after it was found free, so each test worker chooses among ports of its own.
 * Two runs of tests at the same time need different values of `PORT_GROUP`.
 */
const { JEST_WORKER_ID = 0, PORT_GROUP = 0 } = process.env;
const worker = (Number(JEST_WORKER_ID) + Number(PORT_GROUP)) % WORKERS;
/** For the same reason no port is given out twice. */
const given = new Set<number>();

/** `preferred` if nothing listens on it, else any free port. */
export async function freePort(preferred = anyPort()): Promise<number> {
	if (given.has(preferred) || !(await isFree(preferred))) return await freePort();
	given.add(preferred);
	return preferred;
}

function anyPort(): number {
	return WORKERS * randomInt(FIRST_PORT / WORKERS, FIRST_OUTGOING_PORT / WORKERS) + worker;
}

async function isFree(port: number): Promise<boolean> {
	return await new Promise((resolve) => {
		const server = createServer();
		server.once('error', () => {
			resolve(false);
		});
		server.listen(port, '127.0.0.1', () => {
			server.close(() => {
				resolve(true);
			});
		});
	});
}
