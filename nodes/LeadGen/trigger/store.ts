import type { IDataObject, IHookFunctions, IWebhookFunctions } from 'n8n-workflow';
import { jsonIn } from '../json';
import { limitContent, savedPart, toSave, type Saved } from './content';
import { nodes, nodesOf, type NodeMemory } from './memory';
import { prune } from './prune';
import { newState, type TriggerState } from './state';
import { fromRelease1 } from './upgrade';

/**
 * The state of a node, in n8n's static data and in this process. It is in the static data of the workflow, keyed by
 * node ID: n8n keys the static data of a node by the node's name, and loses it when the node is renamed. It is stored
 * as text, because n8n watches each value of an object, which makes reading slow.
 */
export class Store {
	private readonly data: IDataObject;
	/** What n8n had saved when the call arrived. */
	readonly saved: Saved;

	constructor(
		context: IHookFunctions | IWebhookFunctions,
		readonly memory: NodeMemory,
	) {
		this.data = context.getWorkflowStaticData('global');
		this.saved = this.load(memory);
	}

	/** Merges what n8n has saved of a node. @returns the saved starts and notifications */
	private load(memory: NodeMemory): Saved {
		const value = this.data[keyOf(memory)];
		// Hundreds of notifications may arrive at once. Most of them find the text that this process wrote itself.
		const { lastRead } = memory;
		if (lastRead && lastRead.value === value) return lastRead.saved;
		const { owner } = memory.state;
		const state = read(value, owner);
		const saved = savedPart(state ?? newState(owner));
		if (state) memory.merge(state);
		memory.lastRead = { value, saved };
		return saved;
	}

	/**
	 * Writes the state to the static data, which n8n saves when the call is answered. n8n saves static data as a whole,
	 * so nodes that save at the same moment undo each other's changes. So this also writes the states of the other nodes.
	 * @returns whether n8n had already saved the state
	 */
	save(): boolean {
		const { memory } = this;
		memory.state = prune(memory.state, Date.now());
		const isForgotten = limitContent([...nodes.values()].map(({ state }) => state));
		// The saved text may still contain the deleted content, so read it again.
		if (isForgotten) for (const each of nodes.values()) delete each.lastRead;
		for (const other of nodesOf(memory.identity.workflowId)) {
			if (other === memory || !other.lastRead) continue;
			this.load(other);
			this.write(other);
		}
		memory.markWritten();
		return this.write(memory);
	}

	/** @returns whether the static data already contained it */
	private write(memory: NodeMemory): boolean {
		const { state } = memory;
		const key = keyOf(memory);
		const value = JSON.stringify(toSave(state));
		if (this.data[key] === value) return true;
		this.data[key] = value;
		memory.lastRead = { value, saved: savedPart(state) };
		return false;
	}
}

function keyOf({ identity }: NodeMemory): string {
	return `leadGenTrigger ${identity.nodeId}`;
}

/** Anyone can write static data, so anything except a state of this node is ignored. */
function read(value: unknown, owner: string): TriggerState | undefined {
	const known = jsonIn(value) as Partial<TriggerState> | null | undefined;
	const parts = [known?.facts, known?.starts, known?.scrapes, known?.notifications, known?.notices];
	const isState = known?.format === 2 && parts.every((part) => part && !Array.isArray(part));
	const state = isState ? (known as TriggerState) : fromRelease1(value, Date.now());
	return state?.owner === owner ? state : undefined;
}
