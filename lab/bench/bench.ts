import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import packageJson from '../../package.json';
import { N8N } from '../fixture/fixture';
import { badDays, hardLimits, usualLimits } from '../simulator/scenarios';
import { markdownTable, type Row } from '../table';
import { compare } from './lookups';
import { onN8n } from './onN8n';
import { simulated } from './simulated';

const service = { latencyMs: 100 };

/** Each measures, and gives the rows of its table. */
const CASES: Record<string, () => Promise<Row[]>> = {
	verify: () => compare({ work: 'verify', items: 1000, plan: 'enterprise', service }),
	find: () => compare({ work: 'find', items: 1000, plan: 'enterprise', service }),
	pro: () => compare({ work: 'find', items: 600, plan: 'pro', service }),
	limits: () => simulated([...usualLimits, ...hardLimits]),
	badDays: () => simulated(badDays),
	limitsOnN8n: () => onN8n([...usualLimits, ...hardLimits]),
	badDaysOnN8n: () => onN8n(badDays),
};

const HELP = `Measures the nodes in a real n8n against the sandbox, and prints tables for docs/measurements/benchmark.md.

  npm run bench [-- case …]

  verify    1,000 verifications without a limit, beside n8n's HTTP Request node
  find      1,000 lookups without a limit, beside the same
  pro       600 lookups at 300 a minute, beside the same
  limits    the limiter in virtual time, against all kinds of services (needs no n8n)
  badDays   outages, failures and odd refusals in virtual time (needs no n8n)
  limitsOnN8n, badDaysOnN8n   the same in front of a real n8n; SERVICES="502|503" chooses some
  --help    this text

All of them without a name: about an hour. N8N_VERSION=1 takes n8n 1.`;

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
