/** The outcome of a paid call: its data as JSON, or an error that must not be paid for again. */
export type Bought = { json: string } | { error: Error };

/** A run of a node that buys. */
export interface Buyer {
	/** The execution that owns the results that it buys, also when n8n runs the node again. MCP has no executions. */
	executionId?: string;
	/** The run of the node in its execution. It stays the same when n8n runs the node again. */
	payer?: string;
	/** How long results that other executions bought count. */
	rememberMs?: number;
}

/** A paid call, and who paid for it last. */
export interface Purchase {
	executionId: string;
	payer: string;
	bought: Bought;
	at: number;
	bytes: number;
}

const MAX_ENTRIES = 50_000;
const MAX_BYTES = 50 * 1024 * 1024;
const MAX_EXECUTIONS = 1000;
/** Without executions, an error that may have been paid for is reported again for this long. */
const REPORT_AGAIN_MS = 10 * 60_000;
/** A run that takes longer than this may pay again. */
const MAX_AGE_MS = 24 * 60 * 60 * 1000;

/**
 * The paid results of one account, in this process only. The oldest ones are forgotten first, but an execution does not
 * evict its own results: when n8n runs the node again, it asks for them in the same order, and would find none.
 */
export class Memory {
	private readonly entries = new Map<string, Purchase>();
	/** When each execution last bought something. */
	private readonly boughtAt = new Map<string, number>();
	/** The calls that are being made, by key: by any run, also one that was stopped. */
	readonly pending = new Map<string, Promise<unknown>>();
	private bytes = 0;

	/**
	 * What was bought before, if it counts for this buyer: what its own execution bought, or another one that bought its last
	 * result not too long ago. So the results of a long run count together.
	 */
	recall(key: string, { executionId = '', rememberMs = 0 }: Buyer): Purchase | undefined {
		const entry = this.entries.get(key);
		if (!entry) return undefined;
		const isOwn = executionId !== '' && entry.executionId === executionId;
		const isReported = executionId === '' && 'error' in entry.bought;
		const maxAgeMs = Math.max(rememberMs, isReported ? REPORT_AGAIN_MS : 0);
		const at = Math.max(entry.at, this.boughtAt.get(entry.executionId) ?? 0);
		return isOwn || Date.now() - at < maxAgeMs ? entry : undefined;
	}

	keep(key: string, bought: Bought, { executionId = '', payer = '' }: Buyer): void {
		this.forget(key);
		const bytes = 2 * (key.length + ('json' in bought ? bought.json.length : 200));
		this.entries.set(key, { bought, executionId, payer, at: Date.now(), bytes });
		this.bytes += bytes;
		// Without executions, as over MCP, all calls would count as one execution that never ends.
		if (executionId !== '') putLast(this.boughtAt, executionId, Date.now(), MAX_EXECUTIONS);
		for (const [oldest, entry] of this.entries) {
			const isFull = this.entries.size > MAX_ENTRIES || this.bytes > MAX_BYTES;
			if (!isFull && Date.now() - entry.at < MAX_AGE_MS) break;
			const isOwn = executionId !== '' && entry.executionId === executionId;
			this.forget(isFull && isOwn ? key : oldest);
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
