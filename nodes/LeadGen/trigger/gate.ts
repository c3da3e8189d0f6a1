import { sleep } from 'n8n-workflow';
import type { Executing } from './node';
import { perNode, PROCESS } from './nodeMemory';

/**
 * A completion uses two entries of n8n's deduplication record, as does a start. n8n 1 may save the record in a column of
 * MySQL that holds 64 KB, and an entry takes 27 bytes.
 */
const MAX_ENTRIES = 2000;
const OPTIONS = { mode: 'entries', maxEntries: MAX_ENTRIES } as const;
const LOOKS = 5;
/** The pause before the second look: longer than another process may take between reading and writing the record. */
const MIN_PAUSE_MS = 150;
const PAUSE_PER_CHECK = 5;
const MAX_PAUSE_MS = 30_000;

/** What began an execution. */
export interface Delivery {
	/** Identifies the delivery, also when n8n runs its execution again. */
	delivery: string;
	/** The process that made it. */
	process: string;
	/** Where the node reaches itself. Another process does not know these addresses. */
	addresses: string[];
}

/**
 * Whether an execution is the first for its key, runs `again` (a retry, or a worker that took over), or comes after
 * `another` delivery of the same. `unsure` if it is the first by the record, but another process may have looked for the
 * second time while this one wrote it. `unknown` if n8n could not tell.
 */
type Passage = 'first' | 'unsure' | 'again' | 'another' | 'unknown';

/**
 * The gate of an execution: n8n's own deduplication, which works in all processes and survives a crash. n8n reads the
 * whole record, then writes it. So checks in this process wait for each other, and an execution that another process
 * began looks again whether its record is still there.
 */
export class Gate {
	constructor(
		private readonly node: Executing,
		private readonly begun: Delivery,
	) {}

	async pass(key: string): Promise<Passage> {
		const { helpers } = this.node.context;
		const own = this.ownOf(key);
		const keys = [key, own];
		let isRecorded = false;
		let checkMs = 0;
		for (let looks = 1; looks <= LOOKS; looks++) {
			try {
				const fresh = await this.inTurn(async () => {
					const begin = Date.now();
					const { new: values } = await helpers.checkProcessedAndRecord(keys, 'node', OPTIONS);
					// The database is as busy for other processes.
					checkMs = Math.max(checkMs, Date.now() - begin);
					const isAnother = !values.includes(key) && values.includes(own);
					// Otherwise a retry of this delivery would pass.
					if (isAnother) await helpers.removeProcessed([own], 'node', OPTIONS);
					return values;
				});
				if (!fresh.includes(key)) {
					if (fresh.includes(own)) return 'another';
					if (!isRecorded) return 'again';
					return checkMs >= MIN_PAUSE_MS ? 'unsure' : 'first';
				}
				if (looks === 1 && this.begun.process === PROCESS) return 'first';
				isRecorded = true;
			} catch (error) {
				// The first records of two processes can collide.
				this.node.log('warn', `the deduplication failed: ${String(error)}`);
			}
			const pauseMs = Math.max(MIN_PAUSE_MS, PAUSE_PER_CHECK * checkMs);
			await sleep(Math.min(MAX_PAUSE_MS, pauseMs * (1 + Math.random())));
		}
		return 'unknown';
	}

	/** Lets a later execution pass the gate again. */
	async forget(key: string): Promise<void> {
		const { helpers } = this.node.context;
		await this.inTurn(async () => {
			await helpers.removeProcessed([key, this.ownOf(key)], 'node', OPTIONS);
		});
	}

	private ownOf(key: string): string {
		return `${key} ${this.begun.delivery}`;
	}

	private async inTurn<T>(check: () => Promise<T>): Promise<T> {
		const turns = turnsOf(this.node.memory);
		const mine = turns.last.then(check);
		turns.last = mine.catch(() => {});
		return await mine;
	}
}

const turnsOf = perNode<{ last: Promise<unknown> }>(() => ({ last: Promise.resolve() }));
