import { Limiter, type Run } from '../../nodes/LeadGen/service/limits/limiter';
import { pollPauseMs } from '../../nodes/LeadGen/service/limits/polls';
import { VirtualClock } from './clock';
import { Processor, USUAL_STALL_MS } from './processor';
import { SimulatedService, type ServiceSettings } from './service';

/** Scrapes that are started and waited for at once, and lookups that come a while later. */
export interface Scraping extends ServiceSettings {
	perMinute: number;
	scrapes: number;
	/** How long each scrape takes. */
	lastsMs: number;
	lookups: number;
	lookupsAtMs: number;
	/** Processes on the account, each with all of that. */
	processes: number;
	isBusy: boolean;
	seed: number;
}

export interface Scraped {
	/** When each scrape was seen to be finished, and each lookup was answered after it was asked; in seconds. */
	scrapes: number[];
	lookups: number[];
	refused: number;
}

/** The pause between two looks at a scrape, by default. */
const INTERVAL_MS = 5000;
const MAX_MS = 3_600_000;

export async function simulateScrapes(scraping: Scraping): Promise<Scraped> {
	const clock = new VirtualClock(scraping.seed);
	const service = new SimulatedService(clock, scraping);
	const ends: Pick<Scraped, 'scrapes' | 'lookups'> = { scrapes: [], lookups: [] };
	const work = Array.from({ length: scraping.processes }, async () => {
		await runProcess(
			scraping,
			new Processor(clock, scraping.isBusy ? USUAL_STALL_MS : 0),
			service,
			ends,
		);
	});
	await clock.runUntil(Promise.all(work), MAX_MS);
	return { ...ends, refused: service.refused.length };
}

/** What a process does. */
async function runProcess(
	{ perMinute, scrapes, lastsMs, lookups, lookupsAtMs }: Scraping,
	processor: Processor,
	service: SimulatedService,
	ends: Pick<Scraped, 'scrapes' | 'lookups'>,
): Promise<void> {
	const limiter = new Limiter(processor);
	limiter.perMinute = perMinute;
	const newRun = (): Run => ({ inFlight: 0, waitedMs: 0, cap: Infinity, signal: undefined });
	const call = async (run: Run, path: string, isPoll = false) => {
		for (;;) {
			const turn = await limiter.turn(run, { path, isPoll });
			const said = await processor.exchange(service);
			const outcome = said.outcome === 'refused' ? 'rateLimited' : 'succeeded';
			limiter.end(run, turn, { outcome, rateInfo: said });
			if (outcome === 'succeeded') return;
		}
	};
	let watched = 0;
	const pause = () => pollPauseMs(limiter.knownPerMinute, watched);
	const scrape = async (run: Run) => {
		await call(run, '/start');
		const end = processor.now() + lastsMs;
		const others = pause();
		watched++;
		await processor.sleep(others);
		for (;;) {
			await call(run, '/status', true);
			if (processor.now() >= end) break;
			await processor.sleep(Math.max(INTERVAL_MS, pause()));
		}
		watched--;
		ends.scrapes.push(processor.now() / 1000);
	};
	const lookup = async (run: Run) => {
		await processor.sleep(lookupsAtMs);
		await call(run, '/email/find');
		ends.lookups.push((processor.now() - lookupsAtMs) / 1000);
	};
	const [scraper, finder] = [newRun(), newRun()];
	await Promise.all([
		...Array.from({ length: scrapes }, () => scrape(scraper)),
		...Array.from({ length: lookups }, () => lookup(finder)),
	]);
}
