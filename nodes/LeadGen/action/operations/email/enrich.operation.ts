import type { IDataObject } from 'n8n-workflow';
import { addressIn } from '../../../common/addresses';
import { filled, numberIn, without, wordIn } from '../../../common/json';
import { LeadGenError } from '../../../common/errors';
import type { Service } from '../../../service/service';
import { meaningOf } from '../../../service/answer';
import {
	booleanField,
	choicesField,
	noticeField,
	numberField,
	type Field,
	type Parameters,
} from '../../../common/parameters';
import type { Operation } from '../operation';
import { company, linkedinUrl, location, nameFields, readPerson } from './fields';
import { findBusiness } from './findBusiness.operation';
import type { Search } from './finder';
import { findPersonal } from './findPersonal.operation';
import { verify, verifyRequest } from './verify.operation';

const accept = choicesField(
	{
		displayName: 'Accepted Statuses',
		name: 'accept',
		description: 'Which verification statuses make an address good enough',
	},
	[
		{ name: 'Valid', value: 'valid', description: 'The address exists and accepts mail' },
		{
			name: 'Catch-All',
			value: 'catch_all',
			description: 'The domain accepts all mail, so nobody can check the address',
		},
		{ name: 'Unknown', value: 'unknown', description: 'The service could not check the address' },
	],
	['valid'],
);

const minConfidence = numberField({
	displayName: 'Minimum Confidence',
	name: 'minConfidence',
	typeOptions: { minValue: 0, maxValue: 1, numberPrecision: 2 },
	default: 0,
	description: 'From 0 to 1. An address below this confidence is rejected without a verification.',
});

const tryPersonal = booleanField({
	displayName: 'Try Personal Email',
	name: 'tryPersonal',
	description: 'Whether to look for the personal email if no business email is accepted',
});

const locationIfPersonal: Field<string> = {
	...location,
	property: { ...location.property, displayOptions: { show: { '/tryPersonal': [true] } } },
};

const lookupNotice = noticeField(
	'notice',
	"Each person costs 1 or 2 paid calls, or up to 4 with 'Try Personal Email'.",
);

/** The search for one kind of address that a person may have. */
interface Candidate extends Search {
	emailType: 'business' | 'personal';
}

/** What became of a candidate, with all that the service returned about it. */
interface Try extends IDataObject {
	emailType: Candidate['emailType'];
	/** The status of the address, or why it was not verified. */
	outcome: string;
}

const address = without(
	{ ...findBusiness.output, ...verify.output, emailType: 'business' },
	new Set(['found', 'paidCalls']),
);

export const enrich: Operation = {
	value: 'enrich',
	name: 'Find and Verify',
	action: 'Find and verify email',
	description: 'Find the business or personal email address of a person, and verify it',
	paid: 'lookup',
	fields: [lookupNotice, ...nameFields, company, linkedinUrl, accept, tryPersonal],
	options: [locationIfPersonal, minConfidence],
	output: {
		found: true,
		...address,
		paidCalls: 2,
		tried: 'business: valid',
		rejected: [{ ...address, outcome: 'invalid' }],
	},
	split: findBusiness.split,
	prepare(parameters) {
		const accepted = new Set<string>(parameters.get(accept));
		const least = parameters.option(minConfidence);
		const candidates = readCandidates(parameters);
		return {
			request: candidates[0].request,
			mayFollow: 2 * candidates.length - 1,
			follows: ({ email, confidence }) => {
				const found = isSure(confidence, least) ? addressIn(email) : undefined;
				return found === undefined ? undefined : verifyRequest(found);
			},
			run: async (service) => await findAndVerify(candidates, accepted, least, service),
		};
	},
};

/** The kinds of address to look for, in this order. */
function readCandidates(parameters: Parameters): [Candidate, ...Candidate[]] {
	const isPersonal = parameters.get(tryPersonal);
	const person = readPerson(parameters, [company, linkedinUrl], true);
	const { company: domain, ...name } = person;
	const business = (): Candidate => ({ emailType: 'business', ...findBusiness.search(person) });
	if (!isPersonal) return [business()];
	const personal: Candidate = {
		emailType: 'personal',
		...findPersonal.search({ ...name, location: parameters.option(locationIfPersonal) }),
	};
	// Without a company or a profile, a business address cannot be found.
	return domain || name.linkedinUrl ? [business(), personal] : [personal];
}

/** Tries one candidate after the other, until one is good enough. */
async function findAndVerify(
	candidates: Candidate[],
	accepted: Set<string>,
	minConfidence: number,
	service: Service,
): Promise<IDataObject> {
	const tries: Try[] = [];
	try {
		for (const { emailType, run } of candidates) {
			const isOnly = candidates.length === 1 || tries.some(({ refused }) => refused);
			const found = await run(service).catch((error: unknown) => {
				// A profile without a company may not be enough, or a name without a profile.
				if (meaningOf(error) !== 'INVALID_REQUEST' || isOnly) throw error;
				return { found: false, email: null, refused: (error as Error).message };
			});
			const outcome = 'refused' in found ? 'refused' : 'not found';
			const own: Try = { ...found, emailType, outcome };
			tries.push(own);
			await verifyIfSure(own, minConfidence, service);
			if (!accepted.has(own.outcome)) continue;
			return { ...without(own, new Set(['outcome'])), ...history(tries, tries.slice(0, -1)) };
		}
	} catch (error) {
		// What was bought so far must not get lost with the step that failed.
		const found = tries.flatMap(({ email }) => (typeof email === 'string' ? email : []));
		const told = found.length > 0 ? `Before that, it found ${found.join(' and ')}.` : '';
		throw error instanceof LeadGenError && tries.length > 0
			? error.with({ bought: tries }, told)
			: error;
	}
	const status = tries.findLast((each) => each.status)?.status;
	return { found: false, email: null, ...filled({ status }), ...history(tries, tries) };
}

/**
 * Verifies the address, unless that cannot change the outcome. Where the two answers differ, the verification counts.
 */
async function verifyIfSure(own: Try, minConfidence: number, service: Service): Promise<void> {
	if (typeof own.email !== 'string') return;
	own.outcome = 'confidence too low';
	if (!isSure(own.confidence, minConfidence)) return;
	own.outcome = 'not verified';
	const verdict = await service.data(verifyRequest(own.email));
	Object.assign(own, filled(verdict));
	own.outcome = wordIn(verdict.status) ?? 'unknown';
}

/** An address without a confidence is sure. */
const isSure = (confidence: unknown, least: number) => (numberIn(confidence) ?? 1) >= least;

/** Says in one line what was tried, and lists the addresses that were not good enough. */
function history(tries: Try[], turnedDown: Try[]): IDataObject {
	const rejected = turnedDown
		.filter(({ email, emailAnswer }) => email ?? emailAnswer)
		.map((each) => without(each, new Set(['found'])));
	return {
		tried: tries.map(({ emailType, outcome }) => `${emailType}: ${outcome}`).join(', '),
		...(rejected.length > 0 && { rejected }),
	};
}
