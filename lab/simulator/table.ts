/** Prints the time and the refusals of the limiter over all kinds of service, as JSON. Arguments: seeds, part of a name. */
import { aimed, hopeless, named, others } from './scenarios';
import { bound, simulate, type Scenario } from './simulate';

/** An idle process, a busy one, and one that is stalled for a second now and then. */
const PROCESSES: Record<string, Pick<Scenario, 'isBusy' | 'stallMs'>> = {
	idle: {},
	busy: { isBusy: true },
	stalled: { isBusy: true, stallMs: 1000 },
};

async function main(): Promise<void> {
	const [seeds = '5', part = ''] = process.argv.slice(2);
	const all = Object.entries({ ...named, ...aimed, ...others, ...hopeless });
	for (const [name, scenario] of all.filter(([name]) => name.includes(part))) {
		for (const [kind, load] of Object.entries(PROCESSES)) {
			for (let seed = 1; seed <= Number(seeds); seed++) {
				const run = { ...scenario, ...load, seed };
				const { seconds, refused, taken, lost, givenUp } = await simulate(run);
				// A service that is closed for good has no bound.
				const ratio = name in hopeless ? null : seconds / bound({ ...run });
				const share = refused / (refused + taken.length);
				const line = {
					name,
					kind,
					seed,
					ratio,
					share,
					refused,
					taken: taken.length,
					lost,
					givenUp,
				};
				process.stdout.write(`${JSON.stringify(line)}\n`);
			}
		}
	}
}

void main();
