import { LeadGenError } from '../common/errors';
import { pause } from '../common/pause';
import { PROCESS, type Executing } from './node';

// The gate of an execution: n8n's own deduplication, which works in all processes and survives a crash. n8n reads the
// whole record, then writes it. So checks in this process wait for each other, and an execution that another process
// began looks again whether its record is still there.

/** Two entries for a start or completion. n8n 1 may save the record in 64 KB of MySQL, and an entry takes 27 bytes. */
const DEDUPLICATION = { mode: 'entries', maxEntries: 2000 } as const;
const LOOKS = 5;
/** The pause before the second look: longer than another process may take between reading and writing the record. */
const [MIN_LOOK_PAUSE_MS, PAUSE_PER_CHECK, MAX_LOOK_PAUSE_MS] = [1000, 5, 30_000];

/** What began an execution. The delivery stays the same when n8n runs the execution again, in whatever process. */
export type Delivery = { delivery: string; process: string; addresses: string[] };

/**
 * Whether an execution is the first for its name, runs `again` (a retry, or a worker that took over), or comes after
 * `another` delivery. `unsure`: it is the first, but another process may have looked while this one wrote the record.
 */
export type Passage = 'first' | 'unsure' | 'again' | 'another';

/** The gate for one name, such as that of a completion, as one execution comes to it. */
export class Gate {
	/** Of the name, and of this delivery of it. */
	private readonly keys: [string, string];
	private hasPassed = false;
	private hasReopened = false;

	constructor(
		private readonly node: Executing,
		private readonly begun: Delivery,
		name: string,
	) {
		this.keys = [name, `${name} ${begun.delivery}`];
	}

	/** Asks whether the execution may go on. @throws LeadGenError if n8n cannot record the name */
	async pass(): Promise<Passage> {
		const recorded = await this.record();
		// Another process may have written the keys back.
		const passage = recorded === 'again' && this.hasReopened ? 'first' : recorded;
		this.hasPassed = passage === 'first' || passage === 'unsure';
		return passage;
	}

	/** Lets a later execution pass again, if this one has passed. */
	async reopen(): Promise<void> {
		if (!this.hasPassed) return;
		const remove = () => this.node.state.inTurn(() => this.remove(this.keys));
		for (let looks = 1; !(await remove()) && looks < LOOKS; looks++)
			await pause(MIN_LOOK_PAUSE_MS, undefined);
		this.hasPassed = false;
		this.hasReopened = true;
	}

	/** @returns false if n8n cannot remove them */
	private async remove(keys: string[]): Promise<boolean> {
		try {
			await this.node.context.helpers.removeProcessed(keys, 'node', DEDUPLICATION);
			return true;
		} catch (error) {
			this.node.log('warn', `the deduplication failed: ${String(error)}`);
			return false;
		}
	}

	private async record(): Promise<Passage> {
		const [key, own] = this.keys;
		let isRecorded = false;
		let checkMs = 0;
		for (let looks = 1; looks <= LOOKS; looks++) {
			const since = Date.now();
			const fresh = await this.check().catch((error: unknown) => {
				// The first records of two processes can collide.
				this.node.log('warn', `the deduplication failed: ${String(error)}`);
			});
			// The database is as busy for other processes.
			checkMs = Math.max(checkMs, Date.now() - since);
			if (fresh && !fresh.includes(key)) {
				if (fresh.includes(own)) return 'another';
				if (!isRecorded) return 'again';
				return checkMs >= MIN_LOOK_PAUSE_MS ? 'unsure' : 'first';
			}
			if (fresh && looks === 1 && this.begun.process === PROCESS) return 'first';
			isRecorded ||= fresh !== undefined;
			const pauseMs = Math.max(MIN_LOOK_PAUSE_MS, PAUSE_PER_CHECK * checkMs);
			await pause(Math.min(MAX_LOOK_PAUSE_MS, pauseMs * (1 + Math.random())), undefined);
		}
		throw new LeadGenError('n8n could not record this execution', 'Check the database of n8n.');
	}

	/** Records both keys. @returns those that were not recorded before */
	private async check(): Promise<unknown[]> {
		const [key, own] = this.keys;
		const { helpers } = this.node.context;
		return await this.node.state.inTurn(async () => {
			const { new: fresh } = await helpers.checkProcessedAndRecord(
				this.keys,
				'node',
				DEDUPLICATION,
			);
			// Otherwise a retry of this delivery would pass. If it stays, n8n offers no retry of a success.
			if (!fresh.includes(key) && fresh.includes(own)) await this.remove([own]);
			return fresh;
		});
	}
}
