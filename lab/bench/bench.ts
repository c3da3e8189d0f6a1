import { parseArgs } from 'node:util';
import { Fixture } from '../fixture/fixture';
import { readSections, writePage } from '../playground/page';
import { burst } from './burst';
import { measureCases, measureMemory } from './cases';
import { idle } from './idle';
import { limits } from './limits';
import { PAGE } from './part';
import { prompt } from './prompt';
import { describeSetting, markdownReport } from './report';

const HELP = `Measures the LeadGen node beside n8n's HTTP Request node, in a real n8n against the sandbox.

  npm run bench [-- --quick | --burst]

  --quick   one round and 10,000 items at most; prints the report, and leaves docs/ as it is
  --case    with --quick: only the cases whose title begins like this, no memory; may be repeated
  --limits  runs the limiter in the simulator
  --idle    measures what triggers take that wait (10 minutes)
  --prompt  measures how soon a completion runs the workflow (15 minutes, needs Redis and PostgreSQL)
  --burst   measures how soon 100 notifications at once are answered (4 minutes)
            Each of these four renews its part of docs/measurements/benchmark.md.
  --help    this text

N8N_VERSION=1 takes n8n 1.`;

/** The parts of the page that are measured alone. */
const PARTS = { limits, idle, prompt, burst };
/** It was measured once. */
const KEPT = '## Hostile requests';

async function bench(isQuick: boolean, only?: string[]): Promise<void> {
	const setting = describeSetting();
	const rounds = isQuick ? 1 : 3;
	const sizes = isQuick ? [10_000] : [10_000, 50_000];
	const fixture = new Fixture({ N8N_LOG_LEVEL: 'warn' });
	try {
		await fixture.open();
		const say = console.log;
		const cases = await measureCases(fixture, rounds, say, isQuick ? only : undefined);
		say('Memory');
		const memory = isQuick && only ? [] : await measureMemory(fixture, sizes, say);
		const results = { cases, memory, rounds, setting };
		if (isQuick) {
			say(markdownReport(results));
			return;
		}
		const headings = [...Object.values(PARTS).map(({ heading }) => heading), KEPT];
		await writePage(PAGE, markdownReport(results, await readSections(PAGE, headings)));
	} finally {
		await fixture.close();
	}
	for (const part of Object.values(PARTS)) await part.renew();
}

async function main(): Promise<void> {
	const isFlag = { type: 'boolean', default: false } as const;
	const { values } = parseArgs({
		options: {
			quick: isFlag,
			case: { type: 'string', multiple: true },
			limits: isFlag,
			idle: isFlag,
			prompt: isFlag,
			burst: isFlag,
			help: isFlag,
		},
	});
	const names = Object.keys(PARTS) as Array<keyof typeof PARTS>;
	const parts = names.filter((name) => values[name]).map((name) => PARTS[name]);
	if (values.help) console.log(HELP);
	else if (parts.length > 0) for (const part of parts) await part.renew();
	else await bench(values.quick, values.case);
}

void main();
