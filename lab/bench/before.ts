import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../playground/versions';
import type { Clock } from '../../nodes/LeadGen/service/limits/clock';
import type { NewClient, Scenario } from '../simulator/simulate';
import { simulateAll, type Simulated } from './simulation';

/** The limiter of release 1.0.0, as far as it is used here. */
interface OldLimiter {
	perMinute: number;
	turn(run: OldRun): Promise<void>;
	answered(run: OldRun, sentAt: number, news: object): void;
	refused(run: OldRun, news: object): boolean;
}

interface OldRun {
	inFlight: number;
	waitedMs: number;
	cap: () => number;
	signal: undefined;
}

interface OldModule {
	Limiter: new (now: () => number) => OldLimiter;
}

const FOLDER = 'nodes/LeadGen/service';
const FILES = ['limiter.ts', 'timeLog.ts', 'rateHeaders.ts'];

/** Where the old limiter finds what it knows as n8n's timer; virtual time takes its place. */
const STUB = `let clock;
export const use = (one) => (clock = one);
export const sleep = (ms) => clock.sleep(ms);
export class ManualExecutionCancelledError extends Error {}
`;

/**
 * Runs the simulator with the limiter of an earlier commit.
 * @param commit one whose limiter has the interface of release 1.0.0
 */
export async function simulateBefore(commit: string): Promise<Simulated> {
	const folder = mkdtempSync(join(tmpdir(), 'leadgen-before-'));
	try {
		for (const file of FILES) {
			const text = execFileSync('git', ['show', `${commit}:${FOLDER}/${file}`], {
				cwd: ROOT,
				encoding: 'utf8',
			});
			writeFileSync(join(folder, file), text.replace("'n8n-workflow'", "'./n8n'"));
		}
		writeFileSync(join(folder, 'n8n.ts'), STUB);
		const { Limiter } = (await import(join(folder, 'limiter.ts'))) as OldModule;
		const { use } = (await import(join(folder, 'n8n.ts'))) as {
			use: (clock: Clock) => void;
		};
		return await simulateAll((clock, scenario) => {
			use(clock);
			return oldClient(new Limiter(() => clock.now()), clock, scenario);
		});
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

function oldClient(
	limiter: OldLimiter,
	clock: Clock,
	{ perMinute = Infinity }: Scenario,
): ReturnType<NewClient> {
	limiter.perMinute = perMinute;
	const cap = perMinute < Infinity ? Math.min(500, perMinute) : 64;
	const run: OldRun = { inFlight: 0, waitedMs: 0, cap: () => cap, signal: undefined };
	return {
		async call(_run, exchange) {
			for (;;) {
				await limiter.turn(run);
				const sentAt = clock.now();
				const said = await exchange();
				if (said.outcome !== 'refused') {
					limiter.answered(run, sentAt, said);
					return said;
				}
				limiter.refused(run, said);
			}
		},
	};
}
