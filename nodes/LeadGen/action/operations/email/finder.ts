import type { IDataObject } from 'n8n-workflow';
import { addressIn } from '../../../common/addresses';
import { filled, numberIn } from '../../../common/json';
import { ServiceError } from '../../../common/errors';
import { foundNobody, meaningOf } from '../../../service/answer';
import type { ServiceRequest } from '../../../service/request';
import type { Service } from '../../../service/service';
import type { Field } from '../../../common/parameters';
import type { Operation } from '../operation';
import { firstName, lastName, nameFields, readPerson } from './fields';

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
	/**
	 * Those after the names, in the order of the editor. Each value is sent under the name of its field, unless it is
	 * empty.
	 */
	fields: ReadonlyArray<Field<string>>;
	/** They are sent in the same way. */
	options?: ReadonlyArray<Field<string>>;
	/**
	 * Where it is there, a name alone is not enough: if a value is refused, one of the others must be there.
	 * @throws InputError if a request with these values can only fail
	 */
	check?: (person: IDataObject) => void;
}

/** An operation that finds the address of a person (docs/service.md, Operations). */
interface FindOperation extends Operation {
	/**
	 * The search for a person. Its result is the data of the service with `found`: to find nobody is no error.
	 * @param person the fields of the request, with at least one name; empty ones are left out
	 * @throws InputError if a request with these values can only fail
	 */
	search: (person: Record<string, string>) => Search;
}

export interface Search {
	request: ServiceRequest;
	/** @throws ServiceError if the call brought no result */
	run: (service: Service) => Promise<IDataObject>;
}

export function finder({ path, noun, answer, check, ...operation }: Finder): FindOperation {
	const { fields, options = [] } = operation;
	const search: FindOperation['search'] = (person) => {
		const body = filled(person) ?? {};
		check?.(body);
		const request: ServiceRequest = { kind: 'lookup', noun, path, body };
		const run: Search['run'] = async (service) => {
			const answer = await service.call(request);
			const missing = [firstName, lastName, ...fields].flatMap(({ property }) =>
				property.name in body ? [] : property.displayName,
			);
			if ('error' in answer && !foundNobody(answer.error)) throw naming(answer.error, missing);
			for (const name of missing) service.run.needless.add(name);
			return resultOf('data' in answer ? answer.data : null);
		};
		return { request, run };
	};
	/** A refusal, with the fields that the request lacks: the service may need one of them. */
	const naming = (error: Error, missing: string[]) => {
		const isInvalid = error instanceof ServiceError && meaningOf(error) === 'INVALID_REQUEST';
		if (!isInvalid || missing.length === 0) return error;
		return error.with({ missing }, `The request had no ${missing.join(' and no ')}.`);
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
			paidCalls: 1,
		},
		fields: [...nameFields, ...fields],
		split: {
			outputs: ['Found', 'Not Found'],
			outputOf: (result) => (result?.found === true ? 'Found' : 'Not Found'),
		},
		search,
		prepare(parameters) {
			const person = readPerson(parameters, fields, check !== undefined);
			for (const field of options) person[field.property.name] = parameters.option(field);
			return search(person);
		},
	};
}

function resultOf(data: IDataObject | null): IDataObject {
	const email = addressIn(data?.email);
	if (email !== undefined) {
		return { found: true, ...confidenceLevel(data?.confidence), ...data, email };
	}
	const nobody = { found: false, email: null };
	// Some services write `N/A`, a masked address or two addresses in the place of the address.
	return { ...nobody, ...data, ...nobody, ...filled({ emailAnswer: data?.email }) };
}

/** The band of a confidence from 0 to 1 as `confidenceLevel`; no field for any other value. */
function confidenceLevel(value: unknown): IDataObject {
	const confidence = numberIn(value);
	if (confidence === undefined || confidence > 1) return {};
	const band = BANDS.find(([from]) => confidence >= from);
	return band ? { confidenceLevel: band[1] } : {};
}
