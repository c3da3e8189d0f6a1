import { rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { type Sandbox, startSandbox } from '../sandbox/server';
import { lock, unlock } from './lockFile';
import { API_KEY, OWNER, type Instance, setUpInstance } from './instance';
import { installN8n } from './install';
import { type N8n, freePort, installTarball, packPackage, startN8n } from './n8n';
import { type N8nVersion, ROOT, STATE_FOLDER, VERSIONS, findN8n } from './versions';

const HELP = `Runs the package in a real n8n, with the templates and the sandbox of the service, until Ctrl+C.

  npm start -- [--n8n 2] [--once] [--port 5678] [--sandbox-port 4010] [--fresh]

  --n8n           1, 2, or one of ${VERSIONS.join(', ')} (also N8N_VERSION)
  --once          ends after two templates have run; the exit code tells whether they gave results
  --port          where n8n listens
  --sandbox-port  where the sandbox listens
  --fresh         forgets the workflows, executions and settings of earlier runs
  --help          this text`;

interface Options {
	version: N8nVersion;
	once: boolean;
	port: number;
	sandboxPort: number;
	fresh: boolean;
}

/** The options, or undefined if only the help was asked for. */
function readOptions(): Options | undefined {
	const { values } = parseArgs({
		options: {
			n8n: { type: 'string', default: process.env.N8N_VERSION ?? '2' },
			once: { type: 'boolean', default: false },
			port: { type: 'string', default: '5678' },
			'sandbox-port': { type: 'string', default: '4010' },
			fresh: { type: 'boolean', default: false },
			help: { type: 'boolean', default: false },
		},
	});
	if (values.help) return undefined;
	return {
		version: findN8n(values.n8n),
		once: values.once,
		port: portOf('--port', values.port),
		sandboxPort: portOf('--sandbox-port', values['sandbox-port']),
		fresh: values.fresh,
	};
}

function portOf(option: string, value: string): number {
	const port = Number(value);
	if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
	throw new Error(`${option} is a number from 1 to 65535`);
}

/** Undoes what was started, the last first; kept up to date while things are started. */
type Cleanups = Array<() => Promise<void>>;

/** @returns the exit code */
async function play(options: Options, cleanups: Cleanups, signal: AbortSignal): Promise<number> {
	const tarball = await packPackage(signal);
	const sandbox = await startSandbox({
		port: await portFor('the sandbox', options.sandboxPort),
		settings: { job: { durationMs: 4000 } },
	});
	cleanups.push(() => sandbox.close());

	const { version } = options;
	await installN8n(version, signal);
	const userFolder = join(STATE_FOLDER, `user-${version.version}`);
	// Two on one database would spoil it.
	if (!(await lock(`${userFolder}.pid`))) throw new Error('Another playground is up');
	cleanups.push(() => unlock(`${userFolder}.pid`));
	if (options.fresh) await rm(userFolder, { recursive: true, force: true });
	await installTarball(userFolder, tarball, signal);
	const port = await portFor('n8n', options.port);
	console.log(`Starting n8n ${version.version} (about 15 seconds) …`);
	const n8n = await startN8n({ version, userFolder, port, signal });
	cleanups.push(() => n8n.stop());
	const instance = await setUpInstance(n8n.url, sandbox.url);
	signal.throwIfAborted();
	const areRight = await runExamples(instance, sandbox, signal);

	if (!options.once) {
		console.log(addresses(n8n, sandbox.url));
		const why = await Promise.race([n8n.ended, untilAborted(signal)]);
		if (why !== undefined) throw new Error(`n8n ended with ${why}; see ${n8n.logFile}`);
	}
	return areRight ? 0 : 1;
}

/** Runs two templates, and prints what came out. @returns whether both gave results */
async function runExamples(
	{ api, examples }: Instance,
	sandbox: Sandbox,
	signal: AbortSignal,
): Promise<boolean> {
	const before = sandbox.credits();
	let areRight = true;
	for (const [name, node] of [
		['find-and-verify', 'Row for the CRM'],
		['scrape-and-wait', 'Start scrape and wait'],
	] as const) {
		const { id = '' } = examples.get(name) ?? {};
		const execution = await api.runWorkflow(id, 'When clicking ‘Execute workflow’', signal);
		const rows = execution.nodes[node]?.outputs[0] ?? [];
		console.log(`\n${name}: ${execution.error ?? execution.status}`);
		console.table(rows.map(({ json }) => json));
		areRight &&= execution.status === 'success' && rows.length > 0;
	}
	const after = sandbox.credits();
	console.log(
		`\nCredits: ${String(before)} − ${String(before - after)} spent = ${String(after)} left`,
	);
	return areRight;
}

/** The port that is asked for; any free one, if it is taken. */
async function portFor(what: string, preferred: number): Promise<number> {
	const port = await freePort(preferred);
	if (port !== preferred) {
		console.log(`Port ${String(preferred)} is taken; ${what} gets ${String(port)}.`);
	}
	return port;
}

function addresses(n8n: N8n, sandboxUrl: string): string {
	return `
n8n is up, with the nodes, a credential and the examples in it:

  Editor    ${n8n.url}
  Email     ${OWNER.email}
  Password  ${OWNER.password}
  Sandbox   ${sandboxUrl} (API key ${API_KEY})
  Log       ${relative(ROOT, n8n.logFile)}

Ctrl+C stops everything.`;
}

async function untilAborted(signal: AbortSignal): Promise<undefined> {
	await new Promise((resolve) => {
		if (signal.aborted) resolve(undefined);
		signal.addEventListener('abort', resolve);
	});
}

async function main(): Promise<number> {
	const options = readOptions();
	if (options === undefined) {
		console.log(HELP);
		return 0;
	}
	const abort = new AbortController();
	const stop = () => {
		if (!abort.signal.aborted) console.log('\nStopping …');
		abort.abort();
	};
	for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, stop);
	if (process.env.npm_lifecycle_event === 'start') await import('./endWithParent');
	const cleanups: Cleanups = [];
	try {
		return await play(options, cleanups, abort.signal);
	} catch (error) {
		if (abort.signal.aborted) return 130;
		throw error;
	} finally {
		for (const cleanUp of cleanups.reverse()) await cleanUp();
	}
}

void main()
	.catch((error: unknown) => {
		console.error(error instanceof Error ? error.message : error);
		return 1;
	})
	.then((code) => process.exit(code));
