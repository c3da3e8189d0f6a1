import fc from 'fast-check';
import { Clock } from './clock';
import { TriggerNode } from './node';
import { never, Process, type Copy } from './process';
import { networkError, Service } from './service';
import { Workflow } from './workflow';

/**
 * Stands in for n8n and the service around the real trigger, in memory and in virtual time: processes that
 * crash, a database and a queue that fail, answers that get lost. Times are milliseconds.
 */

/** What becomes of a start. After one that is `notDone` the service answers with an error and does nothing. */
const START_KINDS = [
	...(['ok', 'slow', 'lost', 'cut', 'broken', 'notDone'] as const),
	...(['rate', 'refused', 'unconnected'] as const),
];
/** What can fail for a while. The disk is full more often than the rest. */
const OUTAGES = [
	...(['database', 'disk', 'disk', 'queue', 'url', 'answers', 'status', 'lag', 'load'] as const),
];
export type Outage = (typeof OUTAGES)[number];
const MAINS = ['main', 'main2'];
const TOPOLOGIES = {
	single: { mains: ['main'], receivers: ['main'], workers: [] },
	queue: { mains: ['main'], receivers: ['hook1', 'hook2'], workers: ['worker1', 'worker2'] },
	multi: { mains: MAINS, receivers: MAINS, workers: ['worker1', 'worker2'] },
};
const INJECTED = 'Injected';

/** What differs from one history to the next, beside what happens. */
export const SETTING = {
	seed: fc.integer(),
	mode: fc.constantFrom('startScrape', 'startScrape', 'listen'),
	schedule: fc.constantFrom('once', 'cron'),
	topology: fc.constantFrom('single' as const, 'queue' as const, 'multi' as const),
	/** Where there is a second trigger with the same account and schedule; such histories take twice as long. */
	second: fc.constantFrom(...(['none', 'none', 'sameWorkflow', 'otherWorkflow'] as const)),
	/** Line of n8n. */
	version: fc.constantFrom(1, 2),
	/** What becomes of the first starts; the others are `ok`. */
	starts: fc.array(fc.constantFrom(...START_KINDS), { maxLength: 4 }),
	/** Which calls of the trigger to n8n throw, counted from the first one. */
	faults: fc.array(
		fc.record({ from: fc.oneof(fc.nat(200), fc.nat(600)), count: fc.integer({ min: 1, max: 6 }) }),
		{
			maxLength: 4,
		},
	),
};
export type Setting = {
	[key in keyof typeof SETTING]: (typeof SETTING)[key] extends fc.Arbitrary<infer T> ? T : never;
};

/** How often which call of the trigger to n8n threw, in all histories. */
export const thrown = new Map<string, number>();

export function isInjected(error: unknown): boolean {
	return String(error).includes(INJECTED);
}

export class World {
	readonly clock = new Clock();
	readonly wrong: string[] = [];
	readonly log: string[] = [];
	/** The trigger nodes. The second one, if there is one, has the same account and schedule. */
	readonly nodes: [TriggerNode, ...TriggerNode[]];
	readonly workflows: Workflow[];
	readonly topology: Record<'mains' | 'receivers' | 'workers', string[]>;
	/** Calls of the triggers to n8n. */
	calls = 0;
	/** From when on nothing goes wrong. */
	calmFrom = 0;
	readonly service = new Service(this);
	private readonly starts: Array<(typeof START_KINDS)[number]>;
	private readonly outages = new Map<string, number>();
	private readonly processes = new Map<string, Process>();
	private readonly pool: Copy[];
	private isHealed = false;
	private leader = 'main';
	private state: number;

	constructor(
		readonly setting: Setting,
		copies: readonly Copy[],
		name: string,
	) {
		this.state = setting.seed;
		this.starts = [...setting.starts];
		this.pool = [...copies];
		this.topology = TOPOLOGIES[setting.topology];
		for (const each of new Set(Object.values(this.topology).flat())) this.boot(each);
		const first = new Workflow(`workflow ${name}`, this);
		const other = new Workflow(`other workflow ${name}`, this);
		const second = { none: [], sameWorkflow: [first], otherWorkflow: [other] }[setting.second];
		this.workflows = [...new Set([first, ...second])];
		const account = `key ${name}`;
		const add = (workflow: Workflow, index: number) =>
			new TriggerNode(this, workflow, `node-${String(index)}-of-${name}`, account);
		this.nodes = [add(first, 1), ...second.map((workflow) => add(workflow, 2))];
	}

	readonly random = (): number => {
		this.state = (this.state + 0x6d2b79f5) | 0;
		let value = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
		value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
		return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
	};

	between(from: number, to: number): number {
		return Math.floor(from + this.random() * (to - from));
	}

	oneOf(names: readonly string[]): Process | undefined {
		const alive = this.alive(names);
		return alive[this.between(0, alive.length)];
	}

	/** Something goes wrong for so long. */
	trouble(ms = 0): void {
		this.calmFrom = Math.max(this.calmFrom, this.clock.now + ms);
	}

	note(text: string): void {
		this.log.push(`${String(this.clock.passed).padStart(8)} ${text}`);
	}

	/** Whether one of them is failing. */
	is(...outages: Outage[]): boolean {
		return outages.some((outage) => (this.outages.get(outage) ?? 0) > this.clock.now);
	}

	fail(outage: Outage, ms: number): void {
		this.note(`${outage} fails for ${String(ms)} ms`);
		this.outages.set(outage, this.clock.now + ms);
		this.trouble(ms);
	}

	/** Each call of the trigger to n8n can fail. */
	call<T>(what: string, value: T): T {
		const index = this.calls++;
		const { faults } = this.setting;
		const isFaulty = faults.some(({ from, count }) => index >= from && index < from + count);
		if (!isFaulty || this.isHealed) return value;
		this.trouble();
		this.note(`fault in ${what}`);
		thrown.set(what, (thrown.get(what) ?? 0) + 1);
		throw new Error(`${INJECTED}: ${what}`);
	}

	/** What becomes of the next start. */
	nextStart(): (typeof START_KINDS)[number] {
		return this.starts.shift() ?? 'ok';
	}

	/** What an answer comes to for who asked: it may be late, or get lost on the way. */
	async inTime<T>(answer: Promise<T>, ms: number): Promise<T> {
		const late = new Promise<never>((_resolve, reject) => {
			this.clock.after(ms, () => {
				reject(networkError('ECONNABORTED', ''));
			});
		});
		const isLost = this.is('answers') && this.random() < 0.5;
		const last = isLost ? answer.then(async () => await never) : answer;
		return await Promise.race([last, late]);
	}

	// Processes

	private boot(name: string): Process | undefined {
		const copy = this.pool.shift();
		if (!copy) return undefined;
		copy.process = new Process(name, copy.node, this.clock);
		this.processes.set(name, copy.process);
		return copy.process;
	}

	private alive(names: readonly string[]): Process[] {
		return names.flatMap((name) => this.processes.get(name) ?? []).filter((each) => each.isAlive);
	}

	private get leading(): Process | undefined {
		return this.alive([this.leader])[0];
	}

	private get follower(): string | undefined {
		return this.topology.mains.find((name) => name !== this.leader);
	}

	private crash(name: string, ms: number): void {
		const [process] = this.alive([name]);
		if (!process || this.pool.length === 0) return;
		this.note(`${name} crashes`);
		process.isAlive = false;
		for (const reject of process.requests) reject(networkError('ECONNRESET', 'read'));
		for (const node of this.nodes) node.forget();
		this.trouble(ms);
		this.clock.after(ms, () => {
			this.restart(name);
		});
		const { follower } = this;
		if (name !== this.leader || follower === undefined) return;
		this.clock.after(this.between(0, 15_000), () => {
			if (!this.leading) this.lead(follower);
		});
	}

	/** As a service manager does it: n8n takes no new requests, ends those under way, and closes its triggers. */
	private async stop(name: string, ms: number): Promise<void> {
		const [process] = this.alive([name]);
		if (!process || process.isStopping) return;
		this.note(`${name} stops`);
		process.isStopping = true;
		this.trouble(30_000);
		const isCalm = () =>
			this.workflows.every(({ isRegistered, hasWrittenBack }) => isRegistered && !hasWrittenBack) &&
			!this.is(...OUTAGES) &&
			(this.isHealed || this.setting.faults.length === 0);
		const wasCalm = isCalm();
		await Promise.race([process.whileAlive(process.close()), process.wait(30_000)]);
		for (const { id, workflow } of process.started) {
			if (wasCalm && isCalm() && !workflow.saved.includes(id))
				this.wrong.push(`${id} is forgotten`);
		}
		this.crash(name, ms);
		// There may be no process left to take its place.
		process.isStopping = false;
	}

	private restart(name: string): void {
		const process = this.alive([name]).length === 0 ? this.boot(name) : undefined;
		if (!process) return;
		this.note(`${name} restarts`);
		if (!this.topology.mains.includes(name)) return;
		for (const workflow of this.workflows) void workflow.restart(process, name === this.leader);
	}

	private lead(name: string): void {
		const [process] = this.alive([name]);
		if (!process) return;
		this.note(`${name} leads`);
		this.leader = name;
		this.trouble(20_000);
		for (const workflow of this.workflows) {
			if (workflow.isActive) void workflow.add(process, 'leadershipChange');
		}
	}

	// The history

	/** What can happen, with a number to choose by and a time. */
	readonly events = {
		activate: () => {
			const { leading } = this;
			if (leading) for (const workflow of this.workflows) workflow.activate(leading);
		},
		deactivate: () => {
			const { leading } = this;
			if (leading) for (const workflow of this.workflows) workflow.deactivate(leading);
		},
		save: (pick: number) => {
			this.save(pick, false);
		},
		change: (pick: number) => {
			this.save(pick, true);
		},
		crash: (pick: number, ms: number) => {
			this.crash(this.pick(pick), ms);
		},
		stop: (pick: number, ms: number) => {
			void this.stop(this.pick(pick), ms);
		},
		/** The disk is full until the leader crashes. */
		power: (_pick: number, ms: number) => {
			const left = ms % 10_000;
			this.fail('disk', left);
			this.clock.after(left, () => {
				this.crash(this.leader, 5000);
			});
		},
		outage: (pick: number, ms: number) => {
			this.fail(OUTAGES[pick % OUTAGES.length] ?? 'url', ms);
		},
		/** Another main process leads; the one that did notices late. */
		leader: (_pick: number, ms: number) => {
			const before = this.leading;
			const [follower] = this.alive([this.follower ?? '']);
			if (!follower) return;
			this.clock.after(ms % 20_000, () => {
				if (before?.name !== this.leader) void before?.close();
			});
			this.lead(follower.name);
		},
		/** Another trigger of the workflow lost its connection: n8n 1 then activates all of it again. */
		reconnect: (pick: number) => {
			const { leading, workflows, setting } = this;
			if (leading && setting.version === 1)
				void workflows[pick % workflows.length]?.reconnect(leading, pick % 3 === 0);
		},
		writeBack: (pick: number, age: number) => {
			this.workflows[pick % this.workflows.length]?.writeBack(age);
		},
		/** Somebody else starts a scrape with the URL of a node. */
		scrape: (pick: number) => {
			const node = this.nodes[pick % this.nodes.length];
			if (node && this.setting.mode === 'listen') this.service.addScrape(node);
		},
	};

	private pick(pick: number): string {
		const names = [...this.processes.keys()];
		return names[pick % names.length] ?? '';
	}

	private save(pick: number, isChanged: boolean): void {
		const { leading, workflows } = this;
		if (leading) void workflows[pick % workflows.length]?.save(leading, isChanged);
	}

	/** From now on all goes well, and the workflows are active. */
	async heal(): Promise<void> {
		this.isHealed = true;
		this.outages.clear();
		this.starts.length = 0;
		const restart = () => {
			for (const name of this.processes.keys()) this.restart(name);
		};
		restart();
		await this.clock.pass(60_000);
		// Those that were stopping.
		restart();
		if (!this.leading) this.lead(this.alive(this.topology.mains)[0]?.name ?? '');
		this.events.activate();
		this.note('healed');
	}
}
