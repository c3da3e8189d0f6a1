/** What a paid call brought: its data as JSON, or an error that must not be paid for again. */
export type Bought = { json: string } | { error: Error };

interface Entry {
	bought: Bought;
	/** Those that bought it, the last ones. */
	executionIds: string[];
	at: number;
	bytes: number;
}

const MAX_ENTRIES = 50_000;
const MAX_EXECUTIONS = 10;
const MAX_BYTES = 50 * 1024 * 1024;
/** A run that goes on for longer than this may pay again. */
const LONGEST_MS = 24 * 60 * 60 * 1000;

/** The paid results of one account, in this process only; the oldest are forgotten first. */
export class Memory {
	private readonly entries = new Map<string, Entry>();
	private bytes = 0;

	/**
	 * @param maxAgeMs how old a result of another execution may be; those of the same execution always count
	 */
	recall(key: string, executionId: string, maxAgeMs: number): Bought | undefined {
		const entry = this.entries.get(key);
		if (!entry) return undefined;
		const isOurs = executionId !== '' && entry.executionIds.includes(executionId);
		return isOurs || Date.now() - entry.at < maxAgeMs ? entry.bought : undefined;
	}

	keep(key: string, executionId: string, bought: Bought): void {
		const before = this.entries.get(key)?.executionIds ?? [];
		const executionIds = [...new Set([...before, executionId])].slice(-MAX_EXECUTIONS);
		this.forget(key);
		const bytes = 2 * (key.length + ('json' in bought ? bought.json.length : 200));
		this.entries.set(key, { bought, executionIds, at: Date.now(), bytes });
		this.bytes += bytes;
		for (const [oldest, { at }] of this.entries) {
			const isFull = this.entries.size > MAX_ENTRIES || this.bytes > MAX_BYTES;
			if (!isFull && Date.now() - at < LONGEST_MS) break;
			this.forget(oldest);
		}
	}

	private forget(key: string): void {
		this.bytes -= this.entries.get(key)?.bytes ?? 0;
		this.entries.delete(key);
	}
}
