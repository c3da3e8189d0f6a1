import { aimed, named, others } from '../simulator/scenarios';
import { bound, node, simulate, type NewClient, type Scenario } from '../simulator/simulate';

/** What a client reached in a scenario. */
export interface Reached {
	/** Time in relation to the bound. */
	ratio: number;
	/** The share of all calls that were refused, 0 to 1. */
	refused: number;
}

/** By what the scenarios are about. */
export type Simulated = Record<string, Reached>;

export const scenarios: Scenario[] = [
	...Object.entries(named).map(([name, { about, ...scenario }]) => {
		return { ...scenario, about: `${name}: ${about}` };
	}),
	...Object.values(others),
	...Object.values(aimed),
];

/** Seeds that each scenario is run with; the average counts. */
const SEEDS = [1, 2, 3, 4, 5];

/** Runs all scenarios in virtual time. */
export async function simulateAll(newClient: NewClient = node): Promise<Simulated> {
	const all: Simulated = {};
	for (const scenario of scenarios) {
		const runs: Reached[] = [];
		for (const seed of SEEDS) {
			const { seconds, refused, taken } = await simulate({ ...scenario, seed }, newClient);
			const ratio = seconds / bound({ ...scenario, seed });
			runs.push({ ratio, refused: refused / (refused + taken.length) });
		}
		const mean = (of: keyof Reached) => runs.reduce((sum, run) => sum + run[of], 0) / runs.length;
		all[scenario.about] = { ratio: mean('ratio'), refused: mean('refused') };
	}
	return all;
}

/** The rate over time in a scenario. */
export interface Course {
	title: string;
	/** Calls that were taken, and calls that were refused, in each of equal parts of the time. */
	taken: number[];
	refused: number[];
	/** How long each part is. */
	stepSeconds: number;
}

const PARTS = 120;

/** Five courses that show what the policies do. */
export async function simulateCourses(): Promise<Course[]> {
	const titles = [
		'B: ',
		'F: ',
		'G: ',
		'20 a second, 5 after 10 s; answers',
		'5 in any second and 100',
	];
	return await Promise.all(
		titles.map(async (begin): Promise<Course> => {
			const scenario = scenarios.find(({ about }) => about.startsWith(begin));
			if (!scenario) throw new Error(`There is no scenario ${begin}`);
			const { seconds, taken, refusals } = await simulate(scenario, node);
			const stepSeconds = Math.max(0.1, Math.ceil(seconds / PARTS / 0.1) * 0.1);
			const parts = (times: number[]) => {
				const counts = new Array<number>(Math.ceil(seconds / stepSeconds)).fill(0);
				for (const time of times) {
					const part = Math.min(counts.length - 1, Math.floor(time / stepSeconds));
					counts[part] = (counts[part] ?? 0) + 1;
				}
				return counts;
			};
			return {
				title: scenario.about,
				taken: parts(taken),
				refused: parts(refusals),
				stepSeconds,
			};
		}),
	);
}
