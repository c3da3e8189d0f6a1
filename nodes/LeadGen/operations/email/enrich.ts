import type { IDataObject } from 'n8n-workflow';
import { InputError, LeadGenError, ServiceError } from '../../service/errors';
import { PlannedCall, type Service } from '../../service/service';
import { booleanField, numberField, show, type Field, type Parameters } from '../../parameters';
import type { Operation } from '../operation';
import { company, firstName, lastName, linkedinUrl, location } from './fields';
import { findBusiness } from './findBusiness';
import { errorIfNotFound, foundOrNot, notFound } from './finder';
import { findPersonal } from './findPersonal';
import { verifyAddress } from './verify';

const tryPersonal = booleanField({
	displayName: 'Try Personal Email',
	name: 'tryPersonal',
	default: false,
	description:
		'Whether to look for a private address of the person if there is no business address that is good enough. Costs up to two more calls.',
});

const accept: Field<string[]> = {
	property: {
		displayName: 'Accept Results',
		name: 'accept',
		type: 'multiOptions',
		options: [
			{
				name: 'Catch-All',
				value: 'catch_all',
				description: 'The domain takes all mail, so the address itself cannot be checked',
			},
			{
				name: 'Unknown',
				value: 'unknown',
				description: 'Whether the address works could not be found out',
			},
			{ name: 'Valid', value: 'valid', description: 'The address exists and takes mail' },
		],
		default: ['valid'],
		description:
			'Which verification results are good enough. The first such address is the result.',
	},
	read(value) {
		const chosen = Array.isArray(value) ? value : [value];
		if (chosen.length > 0 && chosen.every((status) => typeof status === 'string' && status !== ''))
			return chosen as string[];
		throw new InputError(
			'Accept Results',
			`must be a list of verification results, and is ${show(value)}`,
			'Choose at least one, such as Valid.',
		);
	},
};

const minConfidence = numberField(
	{
		displayName: 'Minimum Confidence',
		name: 'minConfidence',
		typeOptions: { minValue: 0, maxValue: 1, numberPrecision: 2 },
		default: 0,
		description:
			'Addresses found with less confidence are not good enough, and not verified. From 0 to 1: 0.5 leaves out those that the service calls low.',
	},
	{ minimum: 0, maximum: 1 },
);

const trustConfidence = numberField(
	{
		displayName: 'Trust Confidence From',
		name: 'trustConfidence',
		typeOptions: { minValue: 0, maxValue: 1, numberPrecision: 2 },
		default: 0,
		description:
			'Addresses found with this confidence or more are accepted without verification, which saves a call. The service calls those from 0.9 verified. 0 verifies every address.',
	},
	{ minimum: 0, maximum: 1 },
);

/** What makes an address good enough. */
interface Demands {
	accept: string[];
	minConfidence: number;
	trustConfidence: number;
}

/** One kind of address that a person may have. */
interface Candidate {
	emailType: 'business' | 'personal';
	find: (service: Service) => Promise<IDataObject>;
}

export const enrich: Operation = {
	value: 'enrich',
	name: 'Find and Verify',
	action: 'Find and verify an email',
	description:
		"Find a person's email address and verify it: the business one, then if wanted the personal one, until one is good enough",
	paid: 'lookup',
	notice:
		'Each person takes one or two paid calls, and up to two more if you try the personal email. It stops at the first address that is good enough.',
	fields: [firstName, lastName, company, linkedinUrl, accept, tryPersonal],
	options: [location, minConfidence, trustConfidence, errorIfNotFound],
	split: foundOrNot,
	async run(parameters, service) {
		const candidates = readCandidates(parameters);
		const demands = {
			accept: parameters.get(accept),
			minConfidence: parameters.option(minConfidence),
			trustConfidence: parameters.option(trustConfidence),
		};
		const isErrorIfNotFound = parameters.option(errorIfNotFound);
		const steps: IDataObject[] = [];
		try {
			for (const candidate of candidates) {
				const result = await tryCandidate(candidate, demands, service, steps);
				if (result) return { found: true, ...result, steps };
			}
		} catch (error) {
			if (error instanceof PlannedCall) error.mayFollow = 2 * candidates.length - 1;
			// What was bought so far must not get lost with the step that failed.
			throw error instanceof LeadGenError && steps.length > 0
				? error.with({ steps }, 'The results of the steps before it are under "steps".')
				: error;
		}
		if (isErrorIfNotFound) {
			throw notFound('No address that is good enough was found for this person').with(
				{ steps },
				'What was tried is under "steps".',
			);
		}
		return { found: false, email: null, steps };
	},
};

/** @throws InputError if there is nothing to look for */
function readCandidates(parameters: Parameters): Candidate[] {
	const name = {
		firstName: parameters.get(firstName),
		lastName: parameters.get(lastName),
		linkedinUrl: parameters.get(linkedinUrl),
	};
	const business = { ...name, company: parameters.get(company) };
	const personal = { ...name, location: parameters.option(location) };
	const withPersonal = parameters.get(tryPersonal);
	const candidates: Candidate[] = [];
	// Without a company or a profile a business address can't be looked for, and need not be.
	if (business.company || business.linkedinUrl || !withPersonal) {
		candidates.push({
			emailType: 'business',
			find: async (service) => {
				const found = findBusiness.find(business, service);
				return await (withPersonal && !business.company ? found.catch(notWithoutCompany) : found);
			},
		});
	}
	if (withPersonal) {
		candidates.push({
			emailType: 'personal',
			find: async (service) => await findPersonal.find(personal, service),
		});
	}
	return candidates;
}

/** Whether a profile alone will do is not shown (interface 4.4): if not, the next address is tried. */
function notWithoutCompany(error: unknown): IDataObject {
	if (!(error instanceof ServiceError) || error.code !== 'INVALID_REQUEST') throw error;
	return { found: false, email: null, refused: error.message };
}

/**
 * Finds and verifies one kind of address; pays for no verification that cannot change the answer.
 * @param steps gets what was tried, with all that the service said
 * @returns the address with all that is known of it, if it is good enough
 */
async function tryCandidate(
	{ emailType, find }: Candidate,
	{ accept, minConfidence, trustConfidence }: Demands,
	service: Service,
	steps: IDataObject[],
): Promise<IDataObject | undefined> {
	const found = await find(service);
	steps.push({ step: 'find', emailType, ...found });
	const { email, confidence } = found;
	if (!found.found || typeof email !== 'string') return undefined;

	const result = { emailType, ...found };
	if (typeof confidence === 'number') {
		if (confidence < minConfidence) return undefined;
		if (trustConfidence > 0 && confidence >= trustConfidence) return { ...result, status: null };
	}
	const verdict = await verifyAddress(email, service);
	steps.push({ step: 'verify', emailType, ...verdict });
	const { status } = verdict;
	const isGoodEnough = typeof status === 'string' && accept.includes(status);
	return isGoodEnough ? { ...result, ...verdict, email } : undefined;
}
