import type { IDataObject } from 'n8n-workflow';
import type { Field, Parameters } from '../parameters';
import type { Service } from '../service/service';
import type { ServiceRequest } from '../service/types';

/** One operation of the action node: what a person fills in, what is sent, what comes out. */
export interface Operation {
	/** The name that saved workflows hold. */
	value: string;
	/** In the list of operations, in Title Case. */
	name: string;
	/** In the list of the node's actions, such as "Verify an email address". */
	action: string;
	/** For the list of operations, and for an AI agent that chooses a tool. */
	description: string;
	/** What it pays for, if anything: a `lookup`, or the `start` of a scrape. */
	paid?: 'lookup' | 'start';
	/** What it costs, shown above its fields, where a person may not expect it. */
	notice?: string;
	fields: readonly Field[];
	/** Fields inside the "Options" collection. */
	options?: readonly Field[];
	/**
	 * A result with every field that there may be. The editor shows their names and types before the first run:
	 * the build writes them to `__schema__/`, where n8n looks for them.
	 */
	output: IDataObject;
	/** The outputs that its results can be split over. */
	split?: Split;
	/**
	 * Says for a dry run what the work for one item would be, where it is paid for.
	 * @throws InputError as `run` does
	 */
	plan?(parameters: Parameters): PlannedCall;
	/**
	 * Does the work for one item.
	 * @returns the fields of the result
	 * @throws InputError before anything is sent; ServiceError if the call did not bring a result
	 */
	run(parameters: Parameters, service: Service, signal?: AbortSignal): Promise<IDataObject>;
}

/** The first call for an item. */
export interface PlannedCall {
	request: ServiceRequest;
	/** Paid calls that its answer may make necessary. */
	mayFollow: number;
}

export interface Split {
	/** Names of the outputs, in their order. */
	outputs: readonly string[];
	/** For the switch in the "Options" collection: which results go where. */
	description: string;
	/** @param result nothing, if the item failed */
	outputOf: (result: IDataObject | undefined) => string;
}

export interface Resource {
	value: string;
	name: string;
	/** In the order of the editor, the common ones first. */
	operations: readonly Operation[];
	/** The one that is chosen when a person chooses the resource. Saved workflows rely on it: n8n saves no default. */
	chosen: Operation;
}
