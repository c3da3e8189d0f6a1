import type { IDataObject } from 'n8n-workflow';
import { InputError, LeadGenError, ServiceError } from '../../service/errors';
import type { Service } from '../../service/service';
import { booleanField, type Field } from '../../parameters';
import type { Operation, Split } from '../operation';
import { confidenceLevel } from './confidence';

/** What the two finders differ in. */
interface Finder extends Omit<Operation, 'run' | 'paid'> {
	path: string;
	/** In the order of the editor; each is sent under its own name, unless it is empty. */
	fields: ReadonlyArray<Field<string>>;
	options: ReadonlyArray<Field<string>>;
	/** @throws InputError if these values can only fail */
	check?: (person: IDataObject) => void;
}

/** An operation that looks for the address of a person (interface 4.4 and 4.6). */
export interface FindOperation extends Operation {
	/**
	 * @param person the fields of the request; empty ones are left out
	 * @returns the service's data with `found`; nobody found is an answer, and no error
	 * @throws InputError before anything is sent; ServiceError if the call did not bring a result
	 */
	find(person: Record<string, string>, service: Service): Promise<IDataObject>;
}

export const errorIfNotFound = booleanField({
	displayName: 'Error if Not Found',
	name: 'errorIfNotFound',
	default: false,
	description:
		'Whether it is an error if no address is found. Otherwise the result says so, with "found" set to false.',
});

export const foundOrNot: Split = {
	outputs: ['Found', 'Not Found'],
	description:
		'Whether to give people without an address an output of their own, with items that failed',
	outputOf: (result) => (result?.found === true ? 'Found' : 'Not Found'),
};

export function finder({ path, check, ...operation }: Finder): FindOperation {
	const find: FindOperation['find'] = async (person, service) => {
		const filled = Object.entries(person).filter(([, value]) => value !== '');
		const body = Object.fromEntries(filled) as IDataObject;
		if (!body.firstName && !body.lastName) {
			throw new InputError(
				'First Name and Last Name',
				'are both empty',
				'Give the name of the person to look for.',
			);
		}
		check?.(body);
		const data = await service.call({ kind: 'lookup', path, body }).catch(nothingFound);
		return data?.email
			? { found: true, ...data, ...confidenceLevel(data.confidence) }
			: { found: false, email: null, ...data };
	};
	return {
		...operation,
		paid: 'lookup',
		options: [...operation.options, errorIfNotFound],
		split: foundOrNot,
		find,
		async run(parameters, service) {
			const person = Object.fromEntries([
				...operation.fields.map((field) => [field.property.name, parameters.get(field)]),
				...operation.options.map((field) => [field.property.name, parameters.option(field)]),
			]) as Record<string, string>;
			const result = await find(person, service);
			if (!result.found && parameters.option(errorIfNotFound)) throw notFound();
			return result;
		},
	};
}

/** For those who asked for an error if nothing is found. */
export function notFound(message = 'No address was found for this person'): LeadGenError {
	return new LeadGenError(message, 'Switch off "Error if Not Found" to get this as a result.', {
		code: 'NOT_FOUND',
	});
}

/** Nobody found is an answer, also where the service sends it as the error `NOT_FOUND`. */
function nothingFound(error: unknown): null {
	if (error instanceof ServiceError && error.code === 'NOT_FOUND') return null;
	throw error;
}
