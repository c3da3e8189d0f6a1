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

/** What became of a candidate, and all that the service said of it. */
interface Try extends IDataObject {
	emailType: Candidate['emailType'];
	outcome: string;
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
		const tries: Try[] = [];
		try {
			for (const candidate of candidates) {
				const result = await tryCandidate(candidate, demands, service, tries);
				if (result) return { found: true, ...result, ...summary(tries, tries.slice(0, -1)) };
			}
		} catch (error) {
			if (error instanceof PlannedCall) error.mayFollow = 2 * candidates.length - 1;
			// What was bought so far must not get lost with the step that failed.
			throw error instanceof LeadGenError && tries.length > 0
				? error.with({ bought: tries }, 'What was found before it is under "bought".')
				: error;
		}
		if (isErrorIfNotFound) {
			const message = 'No address that is good enough was found for this person';
			throw notFound(message).with(summary(tries, tries), 'What was tried is under "tried".');
		}
		return { found: false, email: null, ...summary(tries, tries) };
	},
};

/** In one line what was tried, and the addresses that were not good enough, with all that is known of them. */
function summary(tries: Try[], turnedDown: Try[]): IDataObject {
	const rejected = turnedDown.filter(({ email }) => email);
	return {
		tried: tries.map(({ emailType, outcome }) => `${emailType}: ${outcome}`).join(', '),
		...(rejected.length > 0 && { rejected }),
	};
}

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
 * @param tries gets what became of it, with all that the service said, also if the verification fails
 * @returns the address with all that is known of it, if it is good enough
 */
async function tryCandidate(
	{ emailType, find }: Candidate,
	{ accept, minConfidence, trustConfidence }: Demands,
	service: Service,
	tries: Try[],
): Promise<IDataObject | undefined> {
	const found = await find(service);
	const own: Try = { ...found, emailType, outcome: 'not found' };
	tries.push(own);
	const { email, confidence } = found;
	if (!found.found || typeof email !== 'string') return undefined;

	own.outcome = 'not verified';
	if (typeof confidence === 'number' && confidence < minConfidence) {
		own.outcome = 'confidence too low';
		return undefined;
	}
	if (typeof confidence === 'number' && trustConfidence > 0 && confidence >= trustConfidence) {
		return { emailType, ...found, status: null };
	}
	const verdict = await verifyAddress(email, service);
	const outcome = typeof verdict.status === 'string' ? verdict.status : 'unknown';
	Object.assign(own, verdict, { email, outcome });
	return accept.includes(outcome) ? { emailType, ...found, ...verdict, email } : undefined;
}
