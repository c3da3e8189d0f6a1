import { parseArgs } from 'node:util';
import { Fixture } from '../fixture/fixture';
import { formatPage, readSections, writePage } from '../playground/page';
import { burst } from './burst';
import { measureCases, measureMemory } from './cases';
import { limits } from './limits';
import { PAGE } from './part';
import { prompt } from './prompt';
import { describeSetting, markdownReport } from './report';

const HELP = `Measures the LeadGen node beside n8n's HTTP Request node, in a real n8n against the sandbox.

  npm run bench [-- --quick | --only burst]

  --quick  one round and 10,000 items at most; prints the report, and leaves docs/ as it is
  --case   with --quick: only the cases whose title begins like this, no memory; may be repeated
  --only   renews only this part of docs/measurements/benchmark.md:
             limits  the simulator
             prompt  how soon a completion runs the workflow (15 minutes, needs Redis and PostgreSQL)
             burst   how soon 100 notifications at once are answered (4 minutes)
  --help   this text

N8N_VERSION=1 takes n8n 1.`;

/** The parts of the page that are measured alone. */
const PARTS = { limits, prompt, burst };
/** Those that were measured once. */
const KEPT = ['## Triggers that wait', '## Hostile requests'];

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
			say(await formatPage(PAGE, markdownReport(results)));
			return;
		}
		const headings = [...Object.values(PARTS).map(({ heading }) => heading), ...KEPT];
		await writePage(PAGE, markdownReport(results, await readSections(PAGE, headings)));
	} finally {
		await fixture.close();
	}
	for (const part of Object.values(PARTS)) await part.renew();
}

async function main(): Promise<void> {
	const { values } = parseArgs({
		options: {
			quick: { type: 'boolean', default: false },
			case: { type: 'string', multiple: true },
			only: { type: 'string' },
			help: { type: 'boolean', default: false },
		},
	});
	const { only = '' } = values;
	if (values.help) console.log(HELP);
	else if (only in PARTS) await PARTS[only as keyof typeof PARTS].renew();
	else if (only !== '') throw new Error(`There is no part ${only}`);
	else await bench(values.quick, values.case);
}

void main();
