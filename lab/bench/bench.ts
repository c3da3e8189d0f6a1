import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import packageJson from '../../package.json';
import { N8N } from '../fixture/fixture';
import { badDays, hardLimits, usualLimits } from '../simulator/scenarios';
import { markdownTable, type Row } from '../table';
import { badDaysOnN8n } from './badDays';
import { compare } from './lookups';
import { simulated } from './simulated';

/** Each measures, and gives the rows of its table. */
const CASES: Record<string, () => Promise<Row[]>> = {
	noLimit: () => compare({ items: 1000, plan: 'enterprise', service: { latencyMs: 100 } }),
	pro: () => compare({ items: 600, plan: 'pro', service: { latencyMs: 100 } }),
	limits: () => simulated([...usualLimits, ...hardLimits]),
	badDays: () => simulated(badDays),
	badDaysOnN8n,
};

const HELP = `Measures the nodes in a real n8n against the sandbox, and prints tables for docs/measurements/benchmark.md.

  npm run bench [-- case …]

  noLimit   1,000 lookups without a limit, beside n8n's HTTP Request node
  pro       600 lookups at 300 a minute
  limits    the limiter in virtual time, against all kinds of services (needs no n8n)
  badDays   outages, failures and odd refusals in virtual time (needs no n8n)
  badDaysOnN8n   the same in front of a real n8n; BAD_DAYS="502|503" chooses some
  --help    this text

All of them without a name: about half an hour. N8N_VERSION=1 takes n8n 1.`;

async function main(): Promise<void> {
	const { values, positionals } = parseArgs({
		options: { help: { type: 'boolean' } },
		allowPositionals: true,
	});
	const names = positionals.length > 0 ? positionals : Object.keys(CASES);
	const unknown = names.filter((name) => !(name in CASES));
	if (values.help || unknown.length > 0) {
		console.log(HELP);
		process.exitCode = unknown.length;
		return;
	}
	const machine = `${String(cpus().length)} × ${cpus()[0]?.model ?? ''}`;
	const versions = `n8n ${N8N.version}, ${packageJson.name} ${packageJson.version}`;
	for (const name of names) {
		// Before the measurement puts load on the machine.
		const load = loadavg()[0]?.toFixed(1) ?? '';
		const rows = await CASES[name]?.();
		console.log(`\n${name}: ${new Date().toISOString()}, ${machine}, ${versions}, load ${load}\n`);
		console.log(markdownTable(rows ?? []));
	}
}

void main();
