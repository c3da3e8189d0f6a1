import { timeoutSignal } from '../common/pause';
import { foundNobody } from './answer';

/** The outcome of a paid call: its data as JSON, or an error that must not be paid for again. */
export type Bought = { json: string } | { error: Error };

/** Whether a paid call brought a result. Finding nobody is a result, too. */
export function isResult(outcome: Bought): boolean {
	return 'json' in outcome || foundNobody(outcome.error);
}

interface Entry {
	bought: Bought;
	/** The last executions that bought it. */
	executionIds: string[];
	/** The run of a node that paid for it last. */
	payer: string;
	at: number;
	bytes: number;
}

interface Pending {
	executionId: string;
	signal: AbortSignal | undefined;
	over: Promise<unknown>;
}

const MAX_ENTRIES = 50_000;
const MAX_EXECUTIONS = 10;
const MAX_RUNS = 1000;
const MAX_BYTES = 50 * 1024 * 1024;
/** A run that takes longer than this may pay again. */
const MAX_REMEMBERED_MS = 24 * 60 * 60 * 1000;

/**
 * The paid results of one account, in this process only. The oldest ones are forgotten first, but an execution does not
 * evict its own results: when n8n runs the node again, it asks for them in the same order, and would find none.
 */
export class Memory {
	private readonly entries = new Map<string, Entry>();
	/** When each execution last bought something. */
	private readonly boughtAt = new Map<string, number>();
	/** The calls that are being made, by key. */
	private readonly pending = new Map<string, Set<Pending>>();
	private bytes = 0;
	private isExpiring = false;

	/** @param keepMs after this time, a result is forgotten, also if nothing else is bought */
	constructor(private readonly keepMs = MAX_REMEMBERED_MS) {}

	/**
	 * @param maxAgeMs how long ago another execution may have bought its last result, so that the results of a long run
	 * count together; results of the same execution always count
	 */
	recall(key: string, executionId: string, maxAgeMs: number): Bought | undefined {
		const entry = this.entries.get(key);
		if (!entry) return undefined;
		const { executionIds, bought } = entry;
		const isOurs = executionId !== '' && executionIds.includes(executionId);
		const at = Math.max(entry.at, ...executionIds.map((id) => this.boughtAt.get(id) ?? 0));
		return isOurs || Date.now() - at < maxAgeMs ? bought : undefined;
	}

	/** Whether a run of a node paid for what is known. */
	isPaidBy(payer: string, key: string): boolean {
		return payer !== '' && this.entries.get(key)?.payer === payer;
	}

	keep(key: string, executionId: string, bought: Bought, payer = ''): void {
		const before = this.entries.get(key)?.executionIds ?? [];
		const executionIds = [...new Set([...before, executionId])].slice(-MAX_EXECUTIONS);
		this.forget(key);
		const bytes = 2 * (key.length + ('json' in bought ? bought.json.length : 200));
		this.entries.set(key, { bought, executionIds, payer, at: Date.now(), bytes });
		this.bytes += bytes;
		// Without executions, as over MCP, all calls would count as one execution that never ends.
		if (executionId !== '') putLast(this.boughtAt, executionId, Date.now(), MAX_RUNS);
		for (const [oldest, entry] of this.entries) {
			if (this.entries.size <= MAX_ENTRIES && this.bytes <= MAX_BYTES) break;
			const isOurs = executionId !== '' && entry.executionIds.includes(executionId);
			this.forget(isOurs ? key : oldest);
		}
		this.expire();
	}

	/** The end of a call that the same execution is making, or one whose run was stopped: Retry asks for it again. */
	pendingOf(key: string, executionId: string): Promise<unknown> | undefined {
		const calls = [...(this.pending.get(key) ?? [])];
		// Over MCP, without executions, calls know nothing of each other.
		const isOurs = (id: string) => id !== '' && id === executionId;
		return calls.find((each) => isOurs(each.executionId) || each.signal?.aborted)?.over;
	}

	/** Knows of a call until it is over. @param signal stops its run, but not the call */
	async during<T>(
		key: string,
		executionId: string,
		signal: AbortSignal | undefined,
		call: Promise<T>,
	): Promise<T> {
		const calls = this.pending.get(key) ?? new Set();
		const over = call.finally(() => {
			calls.delete(pending);
			if (calls.size === 0) this.pending.delete(key);
		});
		const pending = { executionId, signal, over };
		this.pending.set(key, calls.add(pending));
		return await over;
	}

	/** Forgets what is too old, now and whenever something becomes too old. */
	private expire(): void {
		for (const [key, { at }] of this.entries) {
			const leftMs = at + this.keepMs - Date.now();
			if (leftMs > 0) {
				this.expireIn(Math.min(leftMs, this.keepMs));
				return;
			}
			this.forget(key);
		}
	}

	private expireIn(ms: number): void {
		if (this.isExpiring) return;
		this.isExpiring = true;
		// The timer keeps neither n8n from ending, nor an account that was forgotten in memory.
		const memory = new WeakRef(this);
		timeoutSignal(ms).addEventListener('abort', () => {
			const self = memory.deref();
			if (!self) return;
			self.isExpiring = false;
			self.expire();
		});
	}

	private forget(key: string): void {
		this.bytes -= this.entries.get(key)?.bytes ?? 0;
		this.entries.delete(key);
	}
}

/** Puts an entry last, and forgets the first one if there are too many. @returns the value */
export function putLast<T>(map: Map<string, T>, key: string, value: T, max: number): T {
	map.delete(key);
	map.set(key, value);
	const [oldest = ''] = map.keys();
	if (map.size > max) map.delete(oldest);
	return value;
}
