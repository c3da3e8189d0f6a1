import { createHash } from 'node:crypto';
import { closeSync, existsSync, globSync, openSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import packageJson from '../../package.json';
import { ProcessGroup, freePort, run, withLock } from './processes';
import { type N8nVersion, ROOT, STATE_FOLDER } from './versions';

/** What the package is made of. */
const SOURCES = ['*.{js,json,md}', '{credentials,nodes}/**/*.*'];

/** For n8n's setting `EXTERNAL_HOOK_FILES`: then {@link setRole} works. */
export const LEADERSHIP_HOOKS = join(__dirname, 'leadership.ts');

/** Makes a main process lead or follow, as where several elect their leader. Resolves when it does. */
export async function setRole(url: string, role: 'leader' | 'follower'): Promise<void> {
	const response = await fetch(`${url}/leadership/${role}`, { method: 'POST' });
	if (!response.ok) throw new Error(`It does not become ${role}: ${await response.text()}`);
}

interface N8nOptions {
	version: N8nVersion;
	/** Default: all of n8n; the others are its parts in queue mode. */
	command?: 'start' | 'worker' | 'webhook';
	/** Where it keeps `.n8n`: database, encryption key, community packages. */
	userFolder: string;
	/** Of editor, API and webhooks, on the loopback address only. */
	port: number;
	/** Further environment variables; they win over the defaults. */
	env?: Record<string, string>;
}

/**
 * Builds and packs the package just as it is published, unless nothing that it is made of has
 * changed.
 * @returns the path of the tarball
 */
export async function packPackage(): Promise<string> {
	return await withLock(join(STATE_FOLDER, 'package.pid'), async () => {
		const folder = join(STATE_FOLDER, 'package');
		const tarball = join(folder, `${await hashOfSources()}.tgz`);
		if (existsSync(tarball)) return tarball;
		console.log('Building and packing the package …');
		await rm(folder, { recursive: true, force: true });
		await mkdir(folder, { recursive: true });
		await run('npm', ['run', 'build'], { cwd: ROOT });
		await run('npm', ['pack', '--pack-destination', folder], { cwd: ROOT });
		await rename(join(folder, `${packageJson.name}-${packageJson.version}.tgz`), tarball);
		return tarball;
	});
}

async function hashOfSources(): Promise<string> {
	const hash = createHash('sha256');
	for (const file of globSync(SOURCES, { cwd: ROOT }).sort()) {
		hash.update(file).update(await readFile(join(ROOT, file)));
	}
	return hash.digest('hex').slice(0, 16);
}

/**
 * Installs a tarball for a user's n8n, where n8n itself unpacks a community package. There is nothing else to install,
 * as the package has no dependencies; its peer dependency is n8n's own.
 */
export async function installTarball(userFolder: string, tarball: string): Promise<void> {
	const nodesFolder = join(userFolder, '.n8n/nodes');
	const folder = join(nodesFolder, 'node_modules', packageJson.name);
	await rm(folder, { recursive: true, force: true });
	await mkdir(folder, { recursive: true });
	await run('tar', ['-xzf', tarball, '-C', folder, '--strip-components=1']);
	const dependencies = { [packageJson.name]: packageJson.version };
	const manifest = { name: 'installed-nodes', private: true, dependencies };
	await writeFile(join(nodesFolder, 'package.json'), JSON.stringify(manifest));
}

/** Starts n8n, which logs into `n8n.log` in its user folder. Resolves when it is ready for work. */
export async function startN8n(options: N8nOptions): Promise<ProcessGroup> {
	const { version, command = 'start', userFolder, port, env } = options;
	const modules = join(version.folder, 'node_modules');
	const url = `http://127.0.0.1:${String(port)}`;
	const logFile = join(userFolder, 'n8n.log');
	await mkdir(userFolder, { recursive: true });
	const log = openSync(logFile, 'w');
	const program = ['node/bin/node', 'n8n/bin/n8n'].map((path) => join(modules, path));
	const group = new ProcessGroup([...program, command], userFolder, log, {
		...inherited(),
		...QUIET,
		// As in n8n's own image; the editor is only cached then.
		NODE_ENV: 'production',
		// With its compiled code at hand n8n starts a quarter faster.
		NODE_COMPILE_CACHE: join(STATE_FOLDER, 'compile-cache'),
		// Older versions do not know all of them, and would refuse to start. What takes a licence ends with `.ee`.
		N8N_DISABLED_MODULES: NOT_NEEDED.filter((name) =>
			['', '.ee'].some((end) => existsSync(join(modules, 'n8n/dist/modules', name + end))),
		).join(','),
		N8N_USER_FOLDER: userFolder,
		N8N_HOST: '127.0.0.1',
		N8N_LISTEN_ADDRESS: '127.0.0.1',
		N8N_PORT: String(port),
		N8N_RUNNERS_BROKER_PORT: String(await freePort()),
		WEBHOOK_URL: `${url}/`,
		...env,
	});
	closeSync(log);
	// Only the main process has an editor. While it starts, n8n answers with a page that says so.
	const path = command === 'start' ? 'rest/login' : 'healthz/readiness';
	const isReady = async () => {
		const { status, headers } = await fetch(`${url}/${path}`);
		const isPage = !headers.get('content-type')?.includes('json');
		if (status === 503 || isPage) throw new Error('It is still starting');
	};
	try {
		await group.untilReady(isReady);
	} catch (error) {
		await group.kill();
		const end = (await readFile(logFile, 'utf8')).slice(-3000);
		throw new Error(`n8n did not start: ${String(error)}; the end of ${logFile}:\n${end}`);
	}
	return group;
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
	N8N_LICENSE_AUTO_RENEW_ENABLED: 'false',
	N8N_PERSONALIZATION_ENABLED: 'false',
	N8N_RUNNERS_ENABLED: 'true',
	N8N_SECURE_COOKIE: 'false',
	N8N_TEMPLATES_ENABLED: 'false',
	N8N_VERIFIED_PACKAGES_ENABLED: 'false',
	N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
	GENERIC_TIMEZONE: 'UTC',
};
