import { count } from '../common/count';
import type { Account } from './account';
import type { Bought, Memory } from './memory';
import type { ServiceRequest } from './types';

/** Which bought results count, and for how long. */
export interface Remembering {
	/** How long results that other executions bought count. */
	rememberMs?: number;
	/** The execution that owns the results that it buys, also when n8n runs the node again. */
	executionId?: string;
	/** The run of the node in its execution. It stays the same when n8n runs the node again. */
	payer?: string;
}

/** MCP has no executions. There, a start that may have succeeded is reported again for this long. */
const LATELY_MS = 10 * 60_000;

/** The results of paid calls, as far as they count for a run. */
export class Purchases {
	constructor(
		private readonly account: Account,
		private readonly settings: Remembering,
	) {}

	/** What was bought before, if it counts. */
	recall({ kind }: ServiceRequest, key: string): Bought | undefined {
		const { executionId = '', rememberMs = 0 } = this.settings;
		const memory = this.memoryOf(kind);
		const known = memory.recall(key, executionId, rememberMs);
		if (known || executionId !== '') return known;
		const lately = memory.recall(key, executionId, LATELY_MS);
		return lately && 'error' in lately ? lately : undefined;
	}

	/** Whether this run of the node bought it itself, before n8n ran the node again. */
	isOwn({ kind }: ServiceRequest, key: string): boolean {
		const { executionId = '', payer = '' } = this.settings;
		return executionId !== '' && payer !== '' && this.memoryOf(kind).isPaidBy(payer, key);
	}

	/** The end of an identical call that another run of the execution is making. Over MCP, runs know nothing of each other. */
	pendingOf({ kind }: ServiceRequest, key: string): Promise<unknown> | undefined {
		const { executionId = '' } = this.settings;
		return executionId === '' ? undefined : this.memoryOf(kind).pendingOf(key, executionId);
	}

	/** Lets other runs of the execution wait for a call. */
	async during<T>({ kind }: ServiceRequest, key: string, call: Promise<T>): Promise<T> {
		const { executionId = '' } = this.settings;
		return await (executionId === '' ? call : this.memoryOf(kind).during(key, executionId, call));
	}

	keep({ kind }: ServiceRequest, key: string, bought: Bought): void {
		const { executionId = '', payer } = this.settings;
		this.memoryOf(kind).keep(key, executionId, bought, payer);
	}

	/** Text for the user: what happens to bought results when the workflow runs again. */
	get whenRunAgain(): string {
		const minutes = (this.settings.rememberMs ?? 0) / 60_000;
		return minutes > 0
			? `If you run the workflow again within ${count(minutes, 'minute')}, you do not pay for the same results again.`
			: 'Before you run the workflow again, remove the items that already have a result. Otherwise you pay for them again.';
	}

	private memoryOf(kind: ServiceRequest['kind']): Memory {
		return kind === 'lookup' ? this.account.lookups : this.account.runs;
	}
}

/**
 * Two lookups with the same key have the same answer: case and spaces make no difference. Only its place identifies a
 * start, because an expression in its body may return something else when n8n runs it again.
 */
export function keyOf({ kind, path, query, body, place = '' }: ServiceRequest): string {
	const fields = Object.entries(query ?? body ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
	const content = JSON.stringify(fields);
	if (kind !== 'lookup') return `${kind} ${path} ${place || content}`;
	return `${kind} ${path} ${content.normalize('NFC').toLowerCase().replace(/\s+/g, ' ')}`;
}
