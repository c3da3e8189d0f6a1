import type { Aimed } from '../simulator/scenarios';
import { bound, simulate, type Result } from '../simulator/simulate';
import type { Row } from '../table';

const SEEDS = [1, 2, 3, 4, 5];

/** Runs scenarios in virtual time. The average of several runs counts. */
export async function simulated(scenarios: Aimed[]): Promise<Row[]> {
	const rows: Row[] = [];
	for (const scenario of scenarios) {
		const results: Array<Result & { bound: number; calm: number }> = [];
		for (const seed of SEEDS) {
			const calm = { ...scenario, seed, fault: undefined };
			results.push({
				...(await simulate({ ...scenario, seed })),
				bound: bound(calm),
				calm: (await simulate(calm)).seconds,
			});
		}
		const average = (value: (result: (typeof results)[0]) => number) =>
			results.map(value).reduce((a, b) => a + b, 0) / results.length;
		rows.push({
			'The service': scenario.about,
			Calls: scenario.calls,
			'Time, s': average(({ seconds }) => seconds).toFixed(1),
			'Least possible': `${average(({ seconds, bound }) => seconds / bound).toFixed(2)} ×`,
			'Without failures': `${average(({ seconds, calm }) => seconds / calm).toFixed(2)} ×`,
			Refused: average(({ refused }) => refused).toFixed(0),
			Unclear: average(({ unclear }) => unclear).toFixed(0),
			'Not sent': average(({ notSent }) => notSent).toFixed(0),
		});
	}
	return rows;
}
