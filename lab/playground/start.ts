import { once } from 'node:events';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { startSandbox } from '../sandbox/server';
import type { Execution } from './api';
import { API_KEY, OWNER, type Instance, setUpInstance } from './instance';
import { installN8n } from './install';
import { installTarball, packPackage, startN8n } from './n8n';
import { freePort, lock, until } from './processes';
import { ROOT, STATE_FOLDER, VERSIONS, findN8n } from './versions';

const HELP = `Runs the package in a real n8n, with the templates and the sandbox of the service, until Ctrl+C. What you change is
kept in .playground/user-<version>.

  npm start [-- --once]

  --once   ends after two templates have run; the exit code tells whether they gave results
  --help   this text

N8N_VERSION=1 takes n8n 1. There are 1, 2, ${VERSIONS.join(', ')}.`;

/** Those that are free are taken, beginning with these. */
const PORTS = { n8n: 5678, sandbox: 4010 };

/** @returns the exit code */
async function play(isOnce: boolean): Promise<number> {
	const version = findN8n(process.env.N8N_VERSION ?? '2');
	const tarball = await packPackage();
	await installN8n(version);
	const userFolder = join(STATE_FOLDER, `user-${version.version}`);
	// Two on one database would spoil it.
	if (!(await lock(`${userFolder}.pid`))) throw new Error('Another playground is up');
	await installTarball(userFolder, tarball);

	const sandbox = await startSandbox({
		port: await freePort(PORTS.sandbox),
		settings: {
			accounts: { [API_KEY]: { plan: 'pro', credits: 100_000 } },
			job: { durationMs: 4000 },
			notification: { shape: 'leads' },
		},
	});
	console.log(`Starting n8n ${version.version} (about 15 seconds) …`);
	const port = await freePort(PORTS.n8n);
	const url = `http://127.0.0.1:${String(port)}`;
	const n8n = await startN8n({ version, userFolder, port });
	const logFile = relative(ROOT, join(userFolder, 'n8n.log'));
	try {
		const areRight = await runExamples(await setUpInstance(url, sandbox.url, version.line));
		if (isOnce) return areRight ? 0 : 1;
		console.log(`
n8n is up, with the nodes, a credential and the templates in it:

  Editor    ${url}
  Email     ${OWNER.email}
  Password  ${OWNER.password}
  Sandbox   ${sandbox.url} (API key ${API_KEY})
  Log       ${logFile}

Ctrl+C stops everything.`);
		const why = await Promise.race([n8n.ended, untilStopped()]);
		if (why !== undefined) throw new Error(`n8n ended with ${why}; see ${logFile}`);
		console.log('\nStopping …');
		return 0;
	} finally {
		await n8n.stop();
	}
}

/** The next signal does not end this process at once, so that n8n can end in order. */
async function untilStopped(): Promise<undefined> {
	await Promise.race(['SIGINT', 'SIGTERM', 'SIGHUP'].map((name) => once(process, name)));
}

/** Runs two templates, and prints what came out. @returns whether both gave results */
async function runExamples({ api, examples }: Instance): Promise<boolean> {
	const idOf = (name: string) => examples.get(name)?.id ?? '';
	const lookups = await api.runWorkflow(idOf('find-and-verify'));
	const areVerified = show('Verified emails', lookups, 'Row for the CRM');
	// This one starts a scrape; an execution of its own gets the leads.
	const scrape = idOf('scrape-to-data-table');
	await api.activateWorkflow(scrape);
	const { id } = await api.runWorkflow(scrape);
	const newer = async () =>
		(await api.executions(scrape)).filter((each) => Number(each.id) > Number(id));
	await until('leads', async () => (await newer()).length > 0);
	const leads = await api.finishedExecution((await newer())[0]?.id ?? '');
	return show('Leads in a Data Table', leads, 'Add the lead') && areVerified;
}

/** Prints the output of a node. @returns whether there is any */
function show(title: string, { status, error, nodes }: Execution, node: string): boolean {
	const rows = (nodes[node]?.outputs[0] ?? []).map(({ json }) => json);
	console.log(`\n${title}: ${error ?? status}`);
	// Without what n8n adds, and the column that holds the whole lead.
	const hidden = ['id', 'createdAt', 'updatedAt', 'lead', 'scrapeId'];
	const columns = Object.keys(rows[0] ?? {}).filter((name) => !hidden.includes(name));
	console.table(rows, columns);
	return status === 'success' && rows.length > 0;
}

async function main(): Promise<number> {
	const { values } = parseArgs({
		options: { once: { type: 'boolean' }, help: { type: 'boolean' } },
	});
	if (!values.help) return await play(values.once ?? false);
	console.log(HELP);
	return 0;
}

void main()
	.catch((error: unknown) => {
		console.error(error instanceof Error ? error.message : error);
		return 1;
	})
	.then((code) => process.exit(code));
