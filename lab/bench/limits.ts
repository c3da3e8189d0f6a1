import { aimed, named } from '../simulator/scenarios';
import { bound, simulate } from '../simulator/simulate';
import type { Row } from '../table';

/** Seeds that each scenario is run with; the average counts. */
const SEEDS = [1, 2, 3, 4, 5];

/** Compares the limiter with an ideal client that knows the state of the service, in virtual time. */
export async function limits(): Promise<Row[]> {
	const rows: Row[] = [];
	for (const scenario of [...Object.values(named), ...Object.values(aimed)]) {
		let ratio = 0;
		let refusedShare = 0;
		for (const seed of SEEDS) {
			const { seconds, refused, taken } = await simulate({ ...scenario, seed });
			ratio += seconds / bound({ ...scenario, seed }) / SEEDS.length;
			refusedShare += refused / (refused + taken.length) / SEEDS.length;
		}
		rows.push({
			'The service': scenario.about,
			Ratio: `${ratio.toFixed(2)} ×`,
			Refused: `${(100 * refusedShare).toFixed(0)} %`,
		});
	}
	return rows;
}
