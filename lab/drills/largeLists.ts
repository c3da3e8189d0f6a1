import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { API_KEY, Fixture } from '../fixture/fixture';
import { ENV, LargeList, STORES, type ListRow, type Store } from '../fixture/largeList';
import type { Outcome } from './tally';

const BATCH = 100;
/** Longer than a batch takes here. */
const HOLD_MS = 60_000;
const DUPLICATES = 0.15;
const KILLS = 3;
/** About what a row takes without a limit, so that n8n is killed while there is work. */
const ROW_MS = 10;
const LOAD_MS = 30 * 60_000;

/** The templates for lists of any length. n8n is killed while it works on the list, and a person begins the run again. */
export async function largeLists(rows: number, random: () => number): Promise<Outcome[]> {
	const outcomes: Outcome[] = [];
	for (const store of STORES) outcomes.push(await largeList(store, rows, random));
	return outcomes;
}

async function largeList(store: Store, rows: number, random: () => number): Promise<Outcome> {
	const fixture = new Fixture(ENV);
	const list = new LargeList(fixture, store);
	const searches = () =>
		fixture.sandbox.requests.filter(({ operation }) => operation === 'findBusinessEmail');
	try {
		await fixture.open();
		await fixture.reset({
			accounts: { [API_KEY]: { plan: 'enterprise', credits: 10_000_000 } },
			latencyMs: 100,
		});
		await list.open({ batchSize: BATCH, holdHours: HOLD_MS / 3_600_000 });
		const csv = csvOf(rows);
		const upload = new Watch(fixture);
		await list.upload(csv, LOAD_MS);
		const uploaded = await upload.end();

		const working = new Watch(fixture);
		await work(list, fixture, () => 500 + (random() * rows * ROW_MS) / (KILLS + 1));
		const worked = await working.end();
		const all = await list.rows();
		const people = new Set(all.map((row) => `${row.firstName} ${row.lastName} ${row.company}`));
		const different = new Set(searches().map(({ body }) => JSON.stringify(body))).size;
		const again = searches().length - different;

		// The node remembers results for a while. Only the table may know them now.
		await fixture.restart();
		await list.upload(csv, LOAD_MS);
		const before = fixture.sandbox.requests.length;
		await list.run();
		const repeated = fixture.sandbox.requests
			.slice(before)
			.filter(({ operation }) => operation?.endsWith('Email')).length;
		return {
			drill: `${String(rows)} people and repeated rows in a ${store} list, n8n killed ${String(KILLS)} times`,
			promise: `Each row gets a result or a reason; at most ${String(BATCH)} people are looked up again for each kill, and nobody when the list comes again`,
			happened: `Upload: ${uploaded}. Work: ${worked}. ${String(again)} people were looked up again`,
			lost: rows - people.size + all.filter(({ status }) => !isDone(status)).length,
			doubled: all.length - people.size,
			paidTwice: Math.max(0, again - KILLS * BATCH) + repeated,
		};
	} finally {
		await list.close();
		await fixture.close();
	}
}

/** A CSV file of people; some of them come again, in other letters. */
function csvOf(rows: number): string {
	const person = (index: number) =>
		`First${String(index)},Last${String(index)},company${String(index % 997)}.com`;
	const people = Array.from({ length: rows }, (_, index) => person(index));
	const again = people.slice(0, Math.round(rows * DUPLICATES)).map((line) => line.toUpperCase());
	return ['First Name,Last Name,Website', ...people, ...again].join('\n');
}

function isDone(status: ListRow['status']): boolean {
	return !['new', 'working', 'failed', 'unknown'].includes(status);
}

/** Runs the list until no row is left, and kills n8n now and then. */
async function work(list: LargeList, fixture: Fixture, pauseMs: () => number): Promise<void> {
	for (let kills = 0; ; kills++) {
		const run = await list.start();
		if (kills < KILLS) {
			await sleep(pauseMs());
			await fixture.kill();
			await fixture.start();
			continue;
		}
		await fixture.finished(run);
		if ((await list.rows()).every(({ status }) => status !== 'new' && status !== 'working')) return;
		// What a killed n8n held comes back then.
		await sleep(HOLD_MS);
	}
}

/** What n8n takes meanwhile: time, memory, and how long it does not answer while it runs. */
class Watch {
	private readonly since = Date.now();
	private silenceMs = 0;
	private megabytes = 0;
	private isOn = true;
	private readonly done: Promise<void>;

	constructor(private readonly fixture: Fixture) {
		this.done = this.sample();
	}

	async end(): Promise<string> {
		const ms = Date.now() - this.since;
		this.isOn = false;
		await this.done;
		return `${seconds(ms)}, ${String(this.megabytes)} MB at most, silent for ${seconds(this.silenceMs)} at most`;
	}

	private async sample(): Promise<void> {
		while (this.isOn) {
			const began = Date.now();
			const isUp = await fetch(`${this.fixture.url}/healthz`).then(
				({ ok }) => ok,
				() => false,
			);
			if (isUp) this.silenceMs = Math.max(this.silenceMs, Date.now() - began);
			const file = `/proc/${String(this.fixture.pid)}/status`;
			const status = await readFile(file, 'utf8').catch(() => '');
			const kilobytes = Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0);
			this.megabytes = Math.max(this.megabytes, Math.round(kilobytes / 1024));
			await sleep(50);
		}
	}
}

function seconds(ms: number): string {
	return `${(ms / 1000).toFixed(1)} s`;
}
