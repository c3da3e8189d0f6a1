import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../playground/versions';
import { markdownTable } from './report';
import { scenarios, type Reached, type Simulated } from './simulation';

/** What release 1.0.0 reached in the simulator; `npm run bench -- --before <commit>` measures it again. */
export const BEFORE_FILE = join(ROOT, 'lab/bench/before.json');

export const LIMITS_TITLE = '## Other kinds of rate limits';

/** The part of docs/measurements/benchmark.md about the simulator. */
export function limitsReport(now: Simulated): string {
	const before = JSON.parse(readFileSync(BEFORE_FILE, 'utf8')) as Simulated;
	const cells = (reached: Reached | undefined) =>
		reached
			? [`${reached.ratio.toFixed(2)} ×`, `${(100 * reached.refused).toFixed(0)} %`]
			: ['–', '–'];
	const rows = scenarios.map(({ about }) => [about, ...cells(before[about]), ...cells(now[about])]);
	return `${LIMITS_TITLE}

The same limiter in virtual time, against a simulated service, so the figures do not depend on a machine. The
table compares the node with an ideal client that knows the state of the service. The ratio is the time of the node
divided by the time of the ideal client. _Refused_ is the share of refused calls among all calls. Unless the line says
otherwise, the node does not know the limit and the service gives no hint. Each line is the average of five runs.
Unlike the node, the ideal client immediately uses any capacity that other clients leave.

![Calls taken and refused over time in five services](limits.svg)

${markdownTable({ head: ['The service', 'Ratio, 1.0.0', 'Refused, 1.0.0', 'Ratio', 'Refused'], rows })}
`;
}
