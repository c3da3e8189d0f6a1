import {
	deepCopy,
	type IDataObject,
	type IHookFunctions,
	type IWebhookFunctions,
} from 'n8n-workflow';
import { limitContent, toSave, type Saved } from './content';
import { nodes, nodesOf, type NodeMemory } from './memory';
import { ownerOf } from './plan';
import { fingerprint } from './signature';
import { prune } from './prune';
import { newState, type TriggerState } from './state';
import { fromRelease1 } from './upgrade';

const MAX_VERSIONS = 100;

/**
 * The state of a node, in n8n's static data and in this process. The static data is the workflow's and keyed
 * by node ID, because that of a node is keyed by its name and lost when it is renamed.
 */
export class Store {
	private readonly owner: string;
	private readonly data: IDataObject;
	/** As n8n had saved it when the call came in. n8n watches each value of it, so that reading takes time. */
	readonly saved: Saved;

	constructor(
		context: IHookFunctions | IWebhookFunctions,
		readonly memory: NodeMemory,
	) {
		this.owner = ownerOf(context);
		this.data = context.getWorkflowStaticData('global');
		this.saved = this.load(memory, this.owner) ?? { starts: {}, notifications: {} };
	}

	/** What is known now; a new state if nothing is. */
	get state(): TriggerState {
		return (this.memory.state ??= newState(this.owner));
	}

	/** Adds what n8n has saved of a node, if that is news. @returns it */
	private load(memory: NodeMemory, owner: string): TriggerState | undefined {
		const saved = read(this.data[keyOf(memory)], owner);
		// Hundreds of notifications may come at once, and most find what this process itself wrote.
		if (saved && !(memory.state && memory.versions.has(saved.version ?? ''))) {
			memory.take(deepCopy(saved));
			if (saved.version !== undefined) memory.versions.add(saved.version);
		}
		return saved;
	}

	/**
	 * Writes the state to the static data, which n8n saves when the call is answered. n8n saves static data as a
	 * whole, so nodes that save at the same moment undo what the others saved: that is written again, too.
	 * @returns whether the state was not saved already
	 */
	save(): boolean {
		const { memory } = this;
		memory.state = prune(this.state, Date.now());
		const isForgotten = limitContent([...nodes.values()].flatMap(({ state }) => state ?? []));
		// What is saved may hold what was forgotten.
		if (isForgotten) for (const { versions } of nodes.values()) versions.clear();
		for (const other of nodesOf(memory.identity.workflowId)) {
			if (other === memory || !other.state || other.versions.size === 0) continue;
			this.load(other, other.state.owner);
			this.write(other, other.state);
		}
		return this.write(memory, memory.state);
	}

	/** @returns whether it was not written already */
	private write(memory: NodeMemory, state: TriggerState): boolean {
		const known = { ...toSave(state), version: undefined };
		const version = fingerprint(known);
		const key = keyOf(memory);
		if (memory.versions.size >= MAX_VERSIONS) memory.versions.clear();
		memory.versions.add(version);
		if ((this.data[key] as { version?: string } | undefined)?.version === version) return false;
		this.data[key] = { ...deepCopy(known), version };
		return true;
	}
}

function keyOf({ identity }: NodeMemory): string {
	return `leadGenTrigger ${identity.nodeId}`;
}

/** Static data can be written by anyone: what is no state of this node counts for nothing. */
function read(value: unknown, owner: string): TriggerState | undefined {
	const known = value as Partial<TriggerState> | null | undefined;
	const parts = [known?.facts, known?.starts, known?.scrapes, known?.notifications, known?.notices];
	const isState = known?.format === 2 && parts.every((part) => part && !Array.isArray(part));
	const state = isState ? (known as TriggerState) : fromRelease1(value, Date.now());
	return state?.owner === owner ? state : undefined;
}
