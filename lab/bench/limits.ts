import { writeSection } from '../playground/page';
import { aimed, named, others } from '../simulator/scenarios';
import { bound, simulate, type Scenario } from '../simulator/simulate';
import { LAST, markdownTable, PAGE, times } from './part';

const SCENARIOS: Scenario[] = [
	...Object.entries(named).map(([name, { about, ...scenario }]) => {
		return { ...scenario, about: `${name}: ${about}` };
	}),
	...Object.values(others),
	...Object.values(aimed),
];

/** Seeds that each scenario is run with; the average counts. */
const SEEDS = [1, 2, 3, 4, 5];

const TITLE = '## Other kinds of rate limits';

/** Runs all scenarios in virtual time, and writes that section of the page. */
async function renew(): Promise<void> {
	const rows: string[][] = [];
	for (const scenario of SCENARIOS) {
		let ratio = 0;
		let refusedShare = 0;
		for (const seed of SEEDS) {
			const { seconds, refused, taken } = await simulate({ ...scenario, seed });
			ratio += seconds / bound({ ...scenario, seed }) / SEEDS.length;
			refusedShare += refused / (refused + taken.length) / SEEDS.length;
		}
		rows.push([scenario.about, times(ratio), `${(100 * refusedShare).toFixed(0)} %`]);
	}
	const section = `${TITLE}

The same limiter in virtual time, against a simulated service, so the figures do not depend on a machine. The
table compares the node with an ideal client that knows the state of the service. The ratio is the time of the node
divided by the time of the ideal client. _Refused_ is the share of refused calls among all calls. Unless the line says
otherwise, the node does not know the limit and the service gives no hint. Each line is the average of five runs.
Unlike the node, the ideal client immediately uses any capacity that other clients leave.

${markdownTable(['The service', 'Ratio', 'Refused'], rows)}
`;
	await writeSection(PAGE, TITLE, section, LAST);
}

export const limits = { renew };
