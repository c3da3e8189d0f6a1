import type { IDataObject } from 'n8n-workflow';
import type { Saved } from './content';
import type { NoticeText } from './notices';
import type { Plan } from './plan';
import type { TriggerState } from './state';

/** A message of the node to itself. */
export interface SyncRequest {
	/** The process that sends it. */
	process?: string;
	/** The state of the sender. */
	state?: TriggerState;
	/** An execution began for this scrape or notice. The message contains nothing else. */
	begun?: { id: string; at: number };
	/** Run the workflow for this scrape or notice. `data` is the status of the scrape as the service returned it. */
	deliver?: { id: string; data?: IDataObject; completedAt?: number };
	/** Send this attempt to start a scrape, and answer when it has finished. The message contains nothing else. */
	send?: string;
}

export interface SyncReply {
	/** Why the node cannot work. */
	problem?: string;
	/** The state of the process that answers. */
	state: TriggerState;
	/** What n8n had saved before this call. */
	saved: Saved;
	/** Whether n8n had already saved the whole state. */
	isConfirmed: boolean;
	plan: Plan;
	/** Whether the workflow is active. n8n 1.100 also answers if it is not. */
	isActive: boolean;
	/** The process that answers. */
	process: string;
	/** Whether an execution begins. */
	isDelivered: boolean;
	/** The body of a start, or why the node cannot start a scrape. */
	start: { body: IDataObject } | NoticeText;
}
