import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../playground/versions';
import { markdownTable } from './report';
import { scenarios, type Reached, type Simulated } from './simulation';

/** What release 1.0.0 reached in the simulator; `npm run bench -- --before <commit>` measures it again. */
export const BEFORE_FILE = join(ROOT, 'bench/before.json');

export const LIMITS_TITLE = '## Services that limit in any way';

/** The part of docs/benchmark.md about the simulator. */
export function limitsReport(now: Simulated): string {
	const before = JSON.parse(readFileSync(BEFORE_FILE, 'utf8')) as Simulated;
	const cells = (reached: Reached | undefined) =>
		reached
			? [`${reached.ratio.toFixed(2)} ×`, `${(100 * reached.refused).toFixed(0)} %`]
			: ['–', '–'];
	const rows = scenarios.map(({ about }) => [about, ...cells(before[about]), ...cells(now[about])]);
	return `${LIMITS_TITLE}

The same limiter in virtual time, against a simulated service: figures that do not depend on a machine. The
ratio is the time in relation to that of a program that knows the state of the service; the share is that of
the refused calls among all. Where nothing else is said, nothing is known of the limit and the service gives no
hint; each line is the average of five runs. The program that knows all is ruder than the node: it takes what
other clients leave at the very moment.

![Calls taken and refused over time in five services](limits.svg)

${markdownTable({ head: ['The service', 'Ratio, 1.0.0', 'Refused, 1.0.0', 'Ratio', 'Refused'], rows })}
`;
}
