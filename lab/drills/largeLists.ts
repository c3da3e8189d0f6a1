import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { QueueMode, type Role } from '../playground/queue';
import { API_KEY, Fixture, N8N, node, until } from '../fixture/fixture';
import { ENV, LargeList, STORES, type ListRow, type Store } from '../fixture/largeList';
import { randomFrom } from './random';

const HELP = `Measures the templates for lists of any length, on a real n8n with a sandbox of the service that answers after 100 ms.

  npx tsx lab/drills/largeLists.ts [--rows 20000] [--kills 5] [--store Postgres]
  npx tsx lab/drills/largeLists.ts --workers 2 [--plan pro] [--rows 3000] [--kills 1]
  npx tsx lab/drills/largeLists.ts --one-run [--rows 20000]

  --rows     distinct people; 15 % more rows are duplicates (default 20,000)
  --store    "Data Table" (default) or "Postgres"
  --kills    how often n8n, or a worker, is killed at random while it works (default 0)
  --workers  queue mode with so many workers, 1 to 4, and the list in Postgres
  --plan     the plan of the account: starter, pro, or none (default), without a limit
  --one-run  looks up as many people in one run, without a template
  --seed     decides the moments of the kills (default 1)
  --help     this text

N8N_VERSION=1 takes n8n 1. Prints the figures, and the memory of each process for every tenth of the time.`;

const BATCH = 100;
/** Longer than a batch takes here. */
const HOLD_MS = 60_000;
const DUPLICATES = 0.15;
/** About what a row takes without a limit, so that kills come while there is work. */
const ROW_MS = 10;
const LOAD_MS = 30 * 60_000;
const WORKERS = ['worker1', 'worker2', 'worker3', 'worker4'] as const satisfies Role[];

interface Options {
	rows: number;
	kills: number;
	store: Store;
	workers: number;
	plan: string;
	seed: number;
	isOneRun: boolean;
}

/** n8n in queue mode, where executions that a person starts run on the workers, too. */
class WorkerFixture extends Fixture {
	queue!: QueueMode;

	constructor(readonly workers: Role[]) {
		super();
	}

	override async start(): Promise<void> {
		const env = {
			OFFLOAD_MANUAL_EXECUTIONS_TO_WORKERS: 'true',
			N8N_DISABLE_PRODUCTION_MAIN_PROCESS: 'false',
			WEBHOOK_URL: `${this.url}/`,
		};
		this.queue = new QueueMode({ version: N8N, folder: this.folder, port: this.port, env });
		await this.queue.open(['main', ...this.workers]);
	}

	override async stop(): Promise<void> {
		await this.queue.close();
	}
}

/** The memory of processes over time, in MB. */
class MemoryLog {
	private readonly samples: number[] = [];
	private isOn = true;
	private readonly done: Promise<void>;

	/** @param pid of the process, which may be another one after a restart */
	constructor(private readonly pid: () => number | undefined) {
		this.done = this.sample();
	}

	/** @returns its highest value in each tenth of the time */
	async end(): Promise<number[]> {
		this.isOn = false;
		await this.done;
		const size = Math.ceil(this.samples.length / 10);
		const tenths = Array.from({ length: 10 }, (_, at) => at * size);
		return tenths
			.map((from) => Math.max(0, ...this.samples.slice(from, from + size)))
			.filter((megabytes) => megabytes > 0);
	}

	private async sample(): Promise<void> {
		while (this.isOn) {
			const pid = this.pid();
			const file = `/proc/${String(pid)}/status`;
			const status = pid === undefined ? '' : await readFile(file, 'utf8').catch(() => '');
			const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(status) ?? [];
			if (kilobytes !== undefined) this.samples.push(Math.round(Number(kilobytes) / 1024));
			await sleep(500);
		}
	}
}

/** How long n8n takes to answer `/healthz`, which its editor, webhooks and other workflows wait for as well. */
class SilenceLog {
	private longestMs = 0;
	private longestAt = 0;
	private readonly since = Date.now();
	private isOn = true;
	private readonly done: Promise<void>;

	constructor(private readonly url: string) {
		this.done = this.sample();
	}

	/** @returns the longest time without an answer while n8n ran, and when it began */
	async end(): Promise<string> {
		this.isOn = false;
		await this.done;
		return `${seconds(this.longestMs)}, after ${seconds(this.longestAt - this.since)}`;
	}

	private async sample(): Promise<void> {
		while (this.isOn) {
			const began = Date.now();
			const isUp = await fetch(`${this.url}/healthz`).then(
				({ ok }) => ok,
				() => false,
			);
			const ms = Date.now() - began;
			if (isUp && ms > this.longestMs) {
				this.longestMs = ms;
				this.longestAt = began;
			}
			await sleep(50);
		}
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

function isDone({ status }: ListRow): boolean {
	return status !== 'new' && status !== 'working';
}

/** Runs the list until it is done, and kills what works on it now and then. */
async function work(list: LargeList, options: Options, fixture: Fixture): Promise<void> {
	const random = randomFrom(options.seed);
	const lanes = Math.max(1, options.workers);
	for (let kills = options.kills; ;) {
		const runs = await Promise.all(Array.from({ length: lanes }, () => list.start()));
		if (kills > 0) {
			kills--;
			await sleep(500 + (random() * options.rows * ROW_MS) / (options.kills + 1));
			if (fixture instanceof WorkerFixture) {
				await fixture.queue.kill('worker1');
				await fixture.queue.start('worker1');
			} else {
				await fixture.kill();
				await fixture.start();
				continue;
			}
		}
		for (const run of runs) await fixture.finished(run);
		if ((await list.rows()).every(isDone)) return;
		// What a killed process held comes back then.
		await sleep(HOLD_MS);
	}
}

/** Looks up people in one run, as a person does who does not use the template, and n8n saves nothing of it. */
async function workInOneRun(rows: number, fixture: Fixture): Promise<void> {
	const person = `{ firstName: 'Other' + index, lastName: 'Last' + index, company: 'company' + index % 997 + '.com' }`;
	const jsCode = `return Array.from({ length: ${String(rows)} }, (_, index) => ({ json: ${person} }));`;
	const content = fixture.content(
		node('Manual', 'n8n-nodes-base.manualTrigger'),
		node('Rows', 'n8n-nodes-base.code', { typeVersion: 2, parameters: { jsCode } }),
		fixture.leadGen({
			resource: 'email',
			operation: 'enrich',
			firstName: '={{ $json.firstName }}',
			lastName: '={{ $json.lastName }}',
			company: '={{ $json.company }}',
		}),
	);
	const settings = { ...content.settings, saveManualExecutions: false };
	const { id } = await fixture.api.createWorkflow({ ...content, settings });
	const log = new MemoryLog(() => fixture.pid);
	const began = Date.now();
	await fixture.api.startWorkflow(id, 'Manual');
	const isOver = async () => (await fixture.executions(id)).length === 0;
	await until('the end of the run', isOver, LOAD_MS);
	const searches = fixture.count('findBusinessEmail');
	console.log(`one run: ${seconds(Date.now() - began)}, ${String(searches)} searches`);
	console.log(`memory of n8n, MB: ${(await log.end()).join(' ')}`);
}

async function measure(options: Options): Promise<void> {
	const { rows, store, kills, workers, plan } = options;
	const fixture = workers > 0 ? new WorkerFixture(WORKERS.slice(0, workers)) : new Fixture(ENV);
	const list = new LargeList(fixture, workers > 0 ? 'Postgres' : store);
	try {
		await fixture.open();
		await fixture.reset({
			accounts: { [API_KEY]: { plan, credits: 10_000_000 } },
			latencyMs: 100,
			rateLimit: { enabled: plan !== 'none' },
		});
		fixture.credential = await fixture.newCredential('Large list', API_KEY, { plan: 'auto' });
		if (options.isOneRun) {
			await workInOneRun(rows, fixture);
			return;
		}
		await list.open({ batchSize: BATCH, holdHours: HOLD_MS / 3_600_000 });
		const csv = csvOf(rows);
		const uploadMemory = new MemoryLog(() => fixture.pid);
		const uploadSilence = new SilenceLog(fixture.url);
		let began = Date.now();
		await list.upload(csv, LOAD_MS);
		const loading = Date.now() - began;
		console.log(
			`upload: memory, MB: ${(await uploadMemory.end()).join(' ')}, longest silence ${await uploadSilence.end()}`,
		);

		const pids =
			fixture instanceof WorkerFixture
				? fixture.workers.map((role) => [role, () => fixture.queue.pid(role)] as const)
				: [['n8n', () => fixture.pid] as const];
		const logs = pids.map(([name, pid]) => [name, new MemoryLog(pid)] as const);
		const silence = new SilenceLog(fixture.url);
		began = Date.now();
		await work(list, options, fixture);
		const working = Date.now() - began;
		const longestSilence = await silence.end();
		const paid = fixture.sandbox.requests.filter(
			({ operation, status }) => operation === 'findBusinessEmail' && status !== 429,
		).length;
		const refused = fixture.sandbox.requests.filter(({ status }) => status === 429).length;
		const all = await list.rows();
		const left = all.filter((row) => !isDone(row)).length;
		const failed = all.filter(({ status }) => status === 'failed' || status === 'unknown').length;
		console.log(`n8n ${N8N.version}, ${JSON.stringify(options)}`);
		console.log(
			`loaded in ${seconds(loading)}: ${String(all.length)} rows, ${String(rows)} distinct`,
		);
		console.log(
			`done in ${seconds(working)}: ${(rows / (working / 1000)).toFixed(1)} rows a second`,
		);
		console.log(`searches ${String(paid)}; at most ${String(rows + kills * BATCH)} are allowed`);
		console.log(
			`left ${String(left)}, failed or unknown ${String(failed)}, refused calls ${String(refused)}`,
		);
		console.log(`longest silence ${longestSilence}`);
		console.log(`the table takes ${((await list.bytes()) / 1_000_000).toFixed(1)} MB`);
		for (const [name, log] of logs) {
			console.log(`memory of ${name}, MB: ${(await log.end()).join(' ')}`);
		}

		// The node remembers results for a while. Only the table may know them now.
		if (!(fixture instanceof WorkerFixture)) await fixture.restart();
		await list.upload(csv, LOAD_MS);
		const before = fixture.sandbox.requests.length;
		await list.run();
		const again = fixture.sandbox.requests
			.slice(before)
			.filter(({ operation }) => operation?.endsWith('Email')).length;
		console.log(`the same list again: ${String(again)} paid calls`);
	} finally {
		await list.close();
		await fixture.close();
	}
}

function seconds(ms: number): string {
	return `${(ms / 1000).toFixed(1)} s`;
}

const { values } = parseArgs({
	options: {
		rows: { type: 'string', default: '20000' },
		kills: { type: 'string', default: '0' },
		store: { type: 'string', default: 'Data Table' },
		workers: { type: 'string', default: '0' },
		plan: { type: 'string', default: 'none' },
		seed: { type: 'string', default: '1' },
		'one-run': { type: 'boolean', default: false },
		help: { type: 'boolean' },
	},
});
const store = STORES.find((name) => name === values.store);
if (values.help || !store) console.log(HELP);
else {
	const { rows, kills, workers, plan, seed } = values;
	void measure({
		rows: Number(rows),
		kills: Number(kills),
		workers: Number(workers),
		seed: Number(seed),
		isOneRun: values['one-run'],
		store,
		plan,
	});
}
