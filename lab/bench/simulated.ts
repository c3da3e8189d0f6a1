import type { Aimed } from '../simulator/scenarios';
import { average, simulateAll } from '../simulator/simulate';
import type { Row } from '../table';

const TIMES = 5;

/** Runs scenarios in virtual time. The average of several runs counts. */
export async function simulated(scenarios: Aimed[]): Promise<Row[]> {
	const rows: Row[] = [];
	for (const scenario of scenarios) {
		const results = await simulateAll(scenario, TIMES);
		const calm = await simulateAll({ ...scenario, fault: undefined }, TIMES);
		const ofCalm = results.map(({ seconds }, index) => seconds / (calm[index]?.seconds ?? 0));
		const averageOf = (name: keyof (typeof results)[0], digits = 0) =>
			average(results.map((result) => result[name])).toFixed(digits);
		rows.push({
			'The service': scenario.about,
			Calls: scenario.calls,
			'Time, s': averageOf('seconds', 1),
			'Least possible': `${averageOf('ofBound', 2)} ×`,
			'Without failures': `${average(ofCalm).toFixed(2)} ×`,
			Refused: averageOf('refused'),
			Unclear: averageOf('unclear'),
			'Not sent': averageOf('notSent'),
		});
	}
	return rows;
}
