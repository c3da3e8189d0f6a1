import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startSandbox } from '../sandbox/server';
import type { Execution, N8nApi } from './api';
import { API_KEY, BY_HAND, OWNER, type Instance, setUpInstance } from './instance';
import { installN8n } from './install';
import { type N8n, installTarball, packPackage, startN8n } from './n8n';
import { freePort, lock, unlock } from './processes';
import { type N8nVersion, ROOT, STATE_FOLDER, VERSIONS, findN8n } from './versions';

const HELP = `Runs the package in a real n8n, with the templates and the sandbox of the service, until Ctrl+C. What you change is
kept in .playground/user-<version>.

  npm start -- [--n8n 2] [--once]

  --n8n    1, 2, or one of ${VERSIONS.join(', ')} (also N8N_VERSION)
  --once   ends after two templates have run; the exit code tells whether they gave results
  --help   this text`;

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** Those that are free are taken, beginning with these. */
const PORTS = { n8n: 5678, sandbox: 4010 };

const PATIENCE_MS = 60_000;

/** Undoes what was started, the last first. */
const cleanups: Array<() => Promise<void>> = [];

/** @returns the exit code */
async function play(version: N8nVersion, isOnce: boolean): Promise<number> {
	const tarball = await packPackage();
	await installN8n(version);
	const userFolder = join(STATE_FOLDER, `user-${version.version}`);
	// Two on one database would spoil it.
	if (!(await lock(`${userFolder}.pid`))) throw new Error('Another playground is up');
	cleanups.push(() => unlock(`${userFolder}.pid`));
	await installTarball(userFolder, tarball);

	const sandbox = await startSandbox({
		port: await freePort(PORTS.sandbox),
		settings: {
			accounts: { [API_KEY]: { plan: 'pro', credits: 100_000 } },
			job: { durationMs: 4000 },
			notification: { shape: 'leads' },
		},
	});
	cleanups.push(() => sandbox.close());
	console.log(`Starting n8n ${version.version} (about 15 seconds) …`);
	const n8n = await startN8n({ version, userFolder, port: await freePort(PORTS.n8n) });
	cleanups.push(() => n8n.stop());
	const areRight = await runExamples(await setUpInstance(n8n.url, sandbox.url, version.line));
	if (isOnce) return areRight ? 0 : 1;

	console.log(addresses(n8n, sandbox.url));
	const why = await Promise.race([n8n.ended, untilStopped()]);
	if (why !== undefined) throw new Error(`n8n ended with ${why}; see ${n8n.logFile}`);
	console.log('\nStopping …');
	return 0;
}

/** Runs two templates, and prints what came out. @returns whether both gave results */
async function runExamples({ api, examples }: Instance): Promise<boolean> {
	const lookups = await api.runWorkflow(idOf('find-and-verify'), BY_HAND);
	// This one starts a scrape; an execution of its own gets the leads.
	const scrape = idOf('scrape-to-data-table');
	await api.activateWorkflow(scrape);
	const started = await api.runWorkflow(scrape, BY_HAND);
	const leads = await nextExecution(api, scrape, started.id);
	return [
		show('Verified emails', lookups, 'Row for the CRM'),
		show('Leads in a Data Table', leads, 'Add the lead'),
	].every(Boolean);

	function idOf(name: string): string {
		return examples.get(name)?.id ?? '';
	}
}

/** Prints the output of a node. @returns whether there is any */
function show(title: string, execution: Execution | undefined, node: string): boolean {
	const rows = (execution?.nodes[node]?.outputs[0] ?? []).map(({ json }) => json);
	const status = execution?.status ?? 'no execution';
	console.log(`\n${title}: ${execution?.error ?? status}`);
	// Without what n8n adds, and the column that holds the whole lead.
	const hidden = ['id', 'createdAt', 'updatedAt', 'lead', 'scrapeId'];
	const columns = Object.keys(rows[0] ?? {}).filter((name) => !hidden.includes(name));
	console.table(rows, columns);
	return status === 'success' && rows.length > 0;
}

/** The execution that follows another one of a workflow, when it is finished; undefined if none begins. */
async function nextExecution(api: N8nApi, workflowId: string, id: string) {
	const deadline = Date.now() + PATIENCE_MS;
	while (Date.now() < deadline) {
		const next = (await api.executions(workflowId)).find((each) => Number(each.id) > Number(id));
		if (next) return await api.finishedExecution(next.id);
		await sleep(200);
	}
	return undefined;
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

/** From now on, a signal does not end this process at once. */
async function untilStopped(): Promise<undefined> {
	await new Promise((resolve) => {
		for (const name of SIGNALS) process.removeAllListeners(name).once(name, resolve);
	});
}

async function main(): Promise<number> {
	const { values } = parseArgs({
		options: {
			n8n: { type: 'string', default: process.env.N8N_VERSION ?? '2' },
			once: { type: 'boolean', default: false },
			help: { type: 'boolean', default: false },
		},
	});
	if (values.help) {
		console.log(HELP);
		return 0;
	}
	// Ends what was started as well.
	for (const name of SIGNALS) process.on(name, () => process.exit(130));
	if (process.env.npm_lifecycle_event === 'start') await import('./endWithParent');
	try {
		return await play(findN8n(values.n8n), values.once);
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
