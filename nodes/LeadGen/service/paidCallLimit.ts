import { count } from '../common/count';
import { NotAttemptedError } from '../common/errors';
import { putLast } from './memory';

/** How many nodes are counted. The one that was unused for longest is forgotten first. */
const MAX_COUNTED = 1000;

/** The paid calls of a node in one execution: in all runs of a loop, and in all calls of an AI agent. */
interface Counted {
	/** Calls that were paid for, or may have been. */
	used: number;
	/** Calls that the items which began may still need. */
	held: number;
	turn: Promise<unknown>;
	changed: () => void;
}

const counted = new Map<string, Counted>();

/** Keeps the paid calls of a node within a maximum. */
export class PaidCallLimit {
	private readonly calls: Counted;

	/** @param executionId empty over MCP, which has no executions. There, each run counts on its own */
	constructor(
		private readonly max: number,
		executionId: string,
		nodeName: string,
	) {
		const key = `${executionId} ${nodeName}`;
		const known = executionId === '' ? undefined : counted.get(key);
		this.calls = known ?? { used: 0, held: 0, turn: Promise.resolve(), changed: () => {} };
		if (executionId !== '') putLast(counted, key, this.calls, MAX_COUNTED);
	}

	/**
	 * Holds as many calls as an item may need. Items take turns, and wait while those before them may give back calls.
	 * @returns false if the calls that are left will never be enough
	 */
	async hold(needed: number): Promise<boolean> {
		const { calls, max } = this;
		const holding = calls.turn.then(async () => {
			while (calls.used + calls.held + needed > max) {
				if (calls.used + needed > max) return false;
				await new Promise<void>((resolve) => (calls.changed = resolve));
			}
			calls.held += needed;
			return true;
		});
		calls.turn = holding;
		return await holding;
	}

	/** One of the calls that are held was paid for, or may have been. */
	use(): void {
		this.calls.used++;
		this.giveBack(1);
	}

	giveBack(unused: number): void {
		this.calls.held -= unused;
		this.calls.changed();
	}

	/** @throws NotAttemptedError for an item that the maximum does not cover */
	refuse(needed: number, whenRunAgain: string): never {
		throw new NotAttemptedError(
			`Not sent: the node reached Maximum Paid Calls (${String(this.max)})`,
			`It has made ${count(this.calls.used, 'paid call')} in this execution, and this item may need ${String(needed)}. To continue, raise this limit in the options. ${whenRunAgain}`,
		);
	}
}
