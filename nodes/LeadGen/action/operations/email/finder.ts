import type { IDataObject } from 'n8n-workflow';
import { toAddress } from '../../../common/addresses';
import { filled, numberIn } from '../../../common/json';
import { cleanText } from '../../../common/values';
import { foundNobody } from '../../../service/answer';
import type { ItemService } from '../../../service/itemService';
import type { ServiceRequest } from '../../../service/types';
import type { Field } from '../../../common/parameters';
import type { Operation, Split } from '../operation';
import { nameFields, readPerson } from './fields';

/** Lower bounds of the confidence bands of docs/service.md (Operations), the highest first. */
const BANDS = [
	[0.9, 'very_high'],
	[0.7, 'high'],
	[0.5, 'medium'],
	[0, 'low'],
] as const;

/** What differs between the two finders. */
interface Finder extends Omit<Operation, 'prepare' | 'paid' | 'output'> {
	path: string;
	/** The fields of an answer, in addition to those of all finders. */
	answer?: IDataObject;
	/** The noun for one such search that the user sees, in the singular. */
	noun: string;
	/** Those after the names, in the order of the editor. Each value is sent under the name of its field, unless it is empty. */
	fields: ReadonlyArray<Field<string>>;
	/** They are sent in the same way. */
	options?: ReadonlyArray<Field<string>>;
	/** @throws InputError if a request with these values can only fail */
	check?: (person: IDataObject) => void;
}

/** An operation that finds the address of a person (docs/service.md, Operations). */
interface FindOperation extends Operation {
	/**
	 * @param person the fields of the request, with at least one name; empty ones are left out
	 * @throws InputError if a request with these values can only fail
	 */
	requestFor(person: Record<string, string>): ServiceRequest;
}

export const foundOrNot: Split = {
	outputs: ['Found', 'Not Found'],
	outputOf: (result) => (result?.found === true ? 'Found' : 'Not Found'),
};

export function finder({ path, noun, answer, check, ...operation }: Finder): FindOperation {
	const { fields, options = [] } = operation;
	const requestFor: FindOperation['requestFor'] = (person) => {
		const body = filled(person) ?? {};
		check?.(body);
		return { kind: 'lookup', noun, result: 'email', path, body };
	};
	return {
		...operation,
		paid: 'lookup',
		output: {
			found: true,
			email: 'ada.okafor@acme.example',
			confidence: 0.97,
			confidenceLevel: 'very_high',
			...answer,
		},
		fields: [...nameFields, ...fields],
		split: foundOrNot,
		requestFor,
		prepare(parameters) {
			const person = readPerson(parameters, fields, check !== undefined);
			for (const field of options) person[field.property.name] = parameters.option(field);
			const request = requestFor(person);
			return { request, run: async (service) => await find(request, service) };
		},
	};
}

/**
 * @returns the data of the service with `found`; finding nobody is a result and not an error
 * @throws ServiceError if the call brought no result
 */
export async function find(request: ServiceRequest, service: ItemService): Promise<IDataObject> {
	const data = await service.call(request).catch((error: unknown) => {
		if (foundNobody(error)) return null;
		throw error;
	});
	const email = data?.email;
	const address = addressIn(email);
	if (address !== undefined) {
		return { found: true, ...confidenceLevel(data?.confidence), ...data, email: address };
	}
	const nobody = { found: false, email: null };
	// Some services write `N/A`, a masked address or two addresses in the place of the address.
	return { ...nobody, ...data, ...nobody, ...filled({ emailAnswer: email }) };
}

/** The address in an answer, if it is one that can be verified. */
function addressIn(email: unknown): string | undefined {
	try {
		return typeof email === 'string' ? toAddress(cleanText(email, ''), '') : undefined;
	} catch {
		return undefined;
	}
}

/** The band of a confidence from 0 to 1 as `confidenceLevel`; no field for any other value. */
function confidenceLevel(value: unknown): IDataObject {
	const confidence = numberIn(value);
	if (confidence === undefined || confidence > 1) return {};
	const band = BANDS.find(([from]) => confidence >= from);
	return band ? { confidenceLevel: band[1] } : {};
}
