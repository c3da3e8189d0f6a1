import { parseArgs } from 'node:util';
import { burst } from './burst';
import { limitSet, memory, noLimit, pro } from './cases';
import { idle } from './idle';
import { limits } from './limits';
import { prompt } from './prompt';
import { workers } from './workers';

const PARTS = { noLimit, limitSet, pro, workers, limits, idle, prompt, burst, memory };

const HELP = `Measures the nodes in a real n8n against the sandbox, and writes docs/measurements/benchmark.md.

  npm run bench [-- part …]

  noLimit   1,000 lookups without a limit, beside n8n's HTTP Request node
  limitSet  the same with Requests per Minute set in the credential
  pro       600 lookups at 300 a minute
  workers   two workers on one Starter account (needs Redis and PostgreSQL)
  limits    the limiter in virtual time, against all kinds of services (needs no n8n)
  idle      what triggers take that wait
  prompt    how soon a completion runs the workflow (needs Redis and PostgreSQL)
  burst     how soon 100 notifications at once are answered
  memory    10,000 and 50,000 rows
  --help    this text

All of them without a name: about an hour. N8N_VERSION=1 takes n8n 1.`;

async function main(): Promise<void> {
	const { values, positionals } = parseArgs({
		options: { help: { type: 'boolean' } },
		allowPositionals: true,
	});
	if (values.help) {
		console.log(HELP);
		return;
	}
	for (const [name, part] of Object.entries(PARTS)) {
		if (positionals.length === 0 || positionals.includes(name)) await part.renew();
	}
}

void main();
