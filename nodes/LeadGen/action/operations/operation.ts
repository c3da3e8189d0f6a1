import type { IDataObject } from 'n8n-workflow';
import type { Field, Parameters } from '../../common/parameters';
import type { Follows, Service } from '../../service/service';
import type { ServiceRequest } from '../../service/request';

/** One operation of the action node: what the user fills in, what is sent, what comes out. */
export interface Operation {
	/** The name in saved workflows. */
	value: string;
	/** In the list of operations, in Title Case. */
	name: string;
	/** In the list of the node's actions, such as "Verify email address". */
	action: string;
	/** For the list of operations, and for an AI agent that chooses a tool. */
	description: string;
	/** What the user pays for, if anything: a `lookup`, or the `start` of a scrape. */
	paid?: 'lookup' | 'start';
	/** What several operations show in the same form must be the same object: the node then has it once. */
	fields: readonly Field[];
	/** Fields inside the "Options" collection. */
	options?: readonly Field[];
	/**
	 * A result with every possible field. The editor shows their names and types before the first run: the build writes
	 * them to `__schema__/`, where n8n looks for them.
	 */
	output: IDataObject;
	/** The outputs over which its results can be split. */
	split?: {
		/** The names of the outputs, in order. */
		outputs: readonly string[];
		/** @param result undefined if the item failed */
		outputOf: (result: IDataObject | undefined) => string;
	};
	/**
	 * Reads all parameters of one item, before anything is sent for it.
	 * @throws InputError if a value is missing or invalid
	 */
	prepare(parameters: Parameters): PreparedItem;
}

/** The work for one item. */
interface PreparedItem {
	/** The first call. A dry run shows it instead of making it. */
	request: ServiceRequest;
	/** Paid calls that may follow the first one, depending on its answer. */
	mayFollow?: number;
	/** Which one that is, where the answer decides it. */
	follows?: Follows;
	/**
	 * By default, the result is the data of the first call.
	 * @returns the fields of the result
	 * @throws ServiceError if a call brought no result
	 */
	run?(service: Service): Promise<IDataObject>;
}

export interface Resource {
	value: string;
	name: string;
	/**
	 * In the order of the editor. The first one is selected with the resource, so it is free or costs little. It never
	 * changes, because n8n saves no defaults.
	 */
	operations: readonly [Operation, ...Operation[]];
}
