import type { IDataObject } from 'n8n-workflow';
import type { Saved } from './content';
import type { NoticeText } from './notices';
import type { Plan } from './plan';
import type { TriggerState } from './state';

/** What the node says to itself. */
export interface SyncRequest {
	/** The process that says it. */
	process?: string;
	/** What the sender knows. */
	state?: TriggerState;
	/** An execution began for this scrape or notice. Nothing else comes with it. */
	begun?: { id: string; at: number };
	/** Run the workflow for this scrape or notice, with the status of the scrape as the service gave it. */
	deliver?: { id: string; data?: IDataObject; completedAt?: number };
	/** Send this attempt to start a scrape, and answer when it is over. Nothing else comes with it. */
	send?: string;
}

export interface SyncReply {
	/** Why the node can do nothing. */
	problem?: string;
	/** What is known now. */
	state: TriggerState;
	/** What n8n had saved before this call. */
	saved: Saved;
	/** n8n is seen to have saved all of it. */
	isConfirmed: boolean;
	plan: Plan;
	/** n8n 1.100 also answers where the workflow is not active. */
	isActive: boolean;
	/** The process that answers. */
	process: string;
	/** Whether an execution begins. */
	isDelivered: boolean;
	/** The body of a start, or why there can be none. */
	start: { body: IDataObject } | NoticeText;
}
