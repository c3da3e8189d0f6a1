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

const MAX_ENTRIES = 50_000;
const MAX_BYTES = 50 * 1024 * 1024;
const MAX_EXECUTIONS = 1000;
/** How many executions one result may belong to. */
const MAX_BUYERS = 10;
/** A run that takes longer than this may pay again. */
const MAX_AGE_MS = 24 * 60 * 60 * 1000;

/**
 * The paid results of one account, in this process only. The oldest ones are forgotten first, but an execution does not
 * evict its own results: when n8n runs the node again, it asks for them in the same order, and would find none.
 */
export class Memory {
	private readonly entries = new Map<string, Entry>();
	/** When each execution last bought something. */
	private readonly boughtAt = new Map<string, number>();
	/** The calls that are being made, by key. */
	private readonly pending = new Map<string, Promise<unknown>>();
	private bytes = 0;

	/**
	 * @param maxAgeMs how long ago another execution may have bought its last result, so that the results of a long run
	 * count together; results of the same execution always count
	 */
	recall(key: string, executionId: string, maxAgeMs: number): Bought | undefined {
		const entry = this.entries.get(key);
		if (!entry) return undefined;
		const { executionIds } = entry;
		const isOwn = executionId !== '' && executionIds.includes(executionId);
		const at = Math.max(entry.at, ...executionIds.map((id) => this.boughtAt.get(id) ?? 0));
		return isOwn || Date.now() - at < maxAgeMs ? entry.bought : undefined;
	}

	/** Whether a run of a node paid for what is known. */
	isPaidBy(payer: string, key: string): boolean {
		return payer !== '' && this.entries.get(key)?.payer === payer;
	}

	keep(key: string, executionId: string, bought: Bought, payer = ''): void {
		const before = this.entries.get(key)?.executionIds ?? [];
		const executionIds = [...new Set([...before, executionId])].slice(-MAX_BUYERS);
		this.forget(key);
		const bytes = 2 * (key.length + ('json' in bought ? bought.json.length : 200));
		this.entries.set(key, { bought, executionIds, payer, at: Date.now(), bytes });
		this.bytes += bytes;
		// Without executions, as over MCP, all calls would count as one execution that never ends.
		if (executionId !== '') putLast(this.boughtAt, executionId, Date.now(), MAX_EXECUTIONS);
		for (const [oldest, entry] of this.entries) {
			const isFull = this.entries.size > MAX_ENTRIES || this.bytes > MAX_BYTES;
			if (!isFull && Date.now() - entry.at < MAX_AGE_MS) break;
			const isOwn = executionId !== '' && entry.executionIds.includes(executionId);
			this.forget(isFull && isOwn ? key : oldest);
		}
	}

	/** The call that is being made with this key, by any run, also one that was stopped. */
	pendingOf(key: string): Promise<unknown> | undefined {
		return this.pending.get(key);
	}

	/** Knows of a call until it is over. */
	async during<T>(key: string, call: Promise<T>): Promise<T> {
		this.pending.set(key, call);
		try {
			return await call;
		} finally {
			this.pending.delete(key);
		}
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
