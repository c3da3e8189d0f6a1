import type { INodeType } from 'n8n-workflow';
import type { memoryOf } from '../../nodes/LeadGen/trigger/memory';
import type { Clock } from './clock';
import type { Workflow } from './workflow';

/** What a process that crashed waits for. */
export const never = new Promise<never>(() => {});

/** A copy of the trigger's modules, as each process of n8n has one. */
export interface Copy {
	node: INodeType;
	memoryOf: typeof memoryOf;
	process?: Process;
}

/** A process of n8n, until it crashes. */
export class Process {
	isAlive = true;
	/** It takes no new requests. */
	isStopping = false;
	/** Scrapes that the service told it of as started. */
	readonly started: Array<{ id: string; workflow: Workflow }> = [];
	/** Ends the requests that it has to answer. */
	readonly requests = new Set<(error: Error) => void>();
	private readonly closers = new Map<Workflow, Array<() => Promise<void>>>();

	constructor(
		readonly name: string,
		readonly node: INodeType,
		private readonly clock: Clock,
	) {}

	/** Never ends if the process crashes before. */
	async wait(ms: number): Promise<void> {
		await new Promise<void>((resolve) => {
			this.clock.after(ms, resolve);
		});
		if (!this.isAlive) await never;
	}

	async whileAlive<T>(task: Promise<T>): Promise<T> {
		return await task.finally(async () => {
			if (!this.isAlive) await never;
		});
	}

	onClose(workflow: Workflow, close: () => Promise<void>): void {
		this.closers.set(workflow, [...(this.closers.get(workflow) ?? []), close]);
	}

	/** Closes the triggers of a workflow, or all. */
	async close(workflows: readonly Workflow[] = [...this.closers.keys()]): Promise<void> {
		const closers = workflows.flatMap((each) => this.closers.get(each) ?? []);
		for (const each of workflows) this.closers.delete(each);
		await Promise.all(
			closers.map(async (close) => {
				await close();
			}),
		);
	}
}
