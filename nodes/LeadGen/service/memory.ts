import type { Answer } from './answer';

/** A run of a node that pays for calls. Small, because the memory keeps it. */
export interface Buyer {
	/**
	 * The execution that owns what it buys, also when n8n runs the node again. Empty over MCP, which has no executions.
	 */
	executionId: string;
	/** How long the results that other executions bought count, in milliseconds. */
	rememberMs: number;
}

/** A paid call of an account: one that is being made, or its answer. */
interface PaidCall {
	readonly buyer: Buyer;
	/** Never rejects. */
	readonly pending: Promise<Answer>;
	answer?: Answer;
	/**
	 * When it was paid for, or may have been. What this leaves out only counts for its buyer, so that a retry sends it.
	 */
	boughtAt?: number;
	/** An earlier call with the same key that was paid for. */
	earlier?: PaidCall | undefined;
}

const MAX_CALLS = 50_000;
const MAX_EXECUTIONS = 1000;
/** Without executions, a call that may have been paid for is reported again for this long. */
const REPORT_AGAIN_MS = 10 * 60_000;

/** The paid calls of one account, in this process only. The oldest ones are forgotten first. */
export class Memory {
	private readonly calls = new Map<string, PaidCall>();
	/** When each execution last bought something. */
	private readonly boughtAt = new Map<string, number>();

	/**
	 * The call that answers a request of this buyer: one that any run is making, one of its own run or execution, or one
	 * of an execution that bought its last result not too long ago. So the results of a long run count together.
	 */
	recall(key: string, buyer: Buyer): PaidCall | undefined {
		const last = this.calls.get(key);
		if (!last?.answer || last.buyer === buyer) return last;
		const bought = last.boughtAt === undefined ? last.earlier : last;
		if (!bought) return undefined;
		return isOwn(bought, buyer) || this.isRecent(bought, buyer) ? bought : undefined;
	}

	private isRecent({ buyer, boughtAt = 0, answer }: PaidCall, now: Buyer): boolean {
		const isReported = now.executionId === '' && answer && 'error' in answer;
		const maxAgeMs = Math.max(now.rememberMs, isReported ? REPORT_AGAIN_MS : 0);
		const lastAt = Math.max(boughtAt, this.boughtAt.get(buyer.executionId) ?? 0);
		return Date.now() - lastAt < maxAgeMs;
	}

	/**
	 * Keeps a call from the moment in which it is made. Nothing may be awaited between `recall` and this.
	 * @param isBought whether an answer counts for others, because the call was paid for or may have been
	 */
	keep(
		key: string,
		buyer: Buyer,
		pending: Promise<Answer>,
		isBought: (answer: Answer) => boolean,
	): void {
		const last = this.calls.get(key);
		const earlier = last?.boughtAt === undefined ? last?.earlier : last;
		const call: PaidCall = putLast(this.calls, key, { buyer, pending, earlier }, MAX_CALLS);
		void pending.then((answer) => {
			call.answer = answer;
			if (!isBought(answer)) return;
			call.boughtAt = Date.now();
			delete call.earlier;
			// Without executions, as over MCP, all calls would count as one execution that never ends.
			const { executionId } = buyer;
			if (executionId !== '') putLast(this.boughtAt, executionId, Date.now(), MAX_EXECUTIONS);
		});
	}

	/** Lets what executions bought count from now on, because a user is told to run one of them again. */
	extend(executionIds: Iterable<string>): void {
		for (const id of executionIds)
			if (this.boughtAt.has(id)) putLast(this.boughtAt, id, Date.now(), MAX_EXECUTIONS);
	}

	/** The answers to the calls of this buyer whose key begins so, also from before n8n ran the node again. */
	answersOf(buyer: Buyer, keyBegin: string): Answer[] {
		return [...this.calls]
			.filter(([key, call]) => key.startsWith(keyBegin) && isOwn(call, buyer))
			.flatMap(([, { answer }]) => answer ?? []);
	}
}

/** Whether a run, or its execution, made a call. */
function isOwn(call: PaidCall, buyer: Buyer): boolean {
	const { executionId } = buyer;
	return call.buyer === buyer || (executionId !== '' && call.buyer.executionId === executionId);
}

/** Puts an entry last, and forgets the first one if there are too many. @returns the value */
export function putLast<T>(map: Map<string, T>, key: string, value: T, max: number): T {
	map.delete(key);
	map.set(key, value);
	const [oldest = ''] = map.keys();
	if (map.size > max) map.delete(oldest);
	return value;
}
