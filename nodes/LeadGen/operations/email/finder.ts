import type { IDataObject } from 'n8n-workflow';
import { InputError, LeadGenError, ServiceError } from '../../service/errors';
import { booleanField, type Field } from '../../parameters';
import type { Operation } from '../operation';
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

export const errorIfNotFound = booleanField({
	displayName: 'Error if Not Found',
	name: 'errorIfNotFound',
	default: false,
	description:
		'Whether it is an error if no address is found. Otherwise the result says so, with "found" set to false.',
});

/** An operation that looks for the address of a person (interface 4.4 and 4.6). */
export function finder({ path, check, ...operation }: Finder): Operation {
	return {
		...operation,
		paid: 'lookup',
		options: [...operation.options, errorIfNotFound],
		async run(parameters, service) {
			const values = [
				...operation.fields.map((field) => [field.property.name, parameters.get(field)]),
				...operation.options.map((field) => [field.property.name, parameters.option(field)]),
			];
			const body = Object.fromEntries(values.filter(([, value]) => value !== '')) as IDataObject;

			if (!body.firstName && !body.lastName) {
				throw new InputError(
					'First Name and Last Name',
					'are both empty',
					'Give the name of the person to look for.',
				);
			}
			check?.(body);

			const data = await service.call({ kind: 'lookup', path, body }).catch(nothingFound);
			if (data?.email) return { found: true, ...data, ...confidenceLevel(data.confidence) };
			if (parameters.option(errorIfNotFound)) {
				throw new LeadGenError(
					'No address was found for this person',
					'Switch off "Error if Not Found" to get this as a result.',
					{ code: 'NOT_FOUND' },
				);
			}
			return { found: false, email: null, ...data };
		},
	};
}

/** Nobody found is an answer, also where the service sends it as the error `NOT_FOUND`. */
function nothingFound(error: unknown): null {
	if (error instanceof ServiceError && error.code === 'NOT_FOUND') return null;
	throw error;
}
