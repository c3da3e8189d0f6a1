import type { IDataObject } from 'n8n-workflow';
import { filled, numberIn, without, wordIn } from '../../../common/json';
import { LeadGenError, ServiceError } from '../../../common/errors';
import type { ItemService } from '../../../service/itemService';
import type { ServiceRequest } from '../../../service/types';
import { booleanField, noticeField, type Field, type Parameters } from '../../../common/parameters';
import type { Operation } from '../operation';
import { accept, minConfidence, readAcceptance, type Acceptance } from './acceptance';
import { company, linkedinUrl, location, nameFields, readName } from './fields';
import { findBusiness } from './findBusiness';
import { find, foundOrNot } from './finder';
import { findPersonal } from './findPersonal';
import { verify, verifyRequest } from './verify';

const tryPersonal = booleanField({
	displayName: 'Try Personal Email',
	name: 'tryPersonal',
	description: 'Whether to look for the personal email if no business email is accepted',
});

const locationIfPersonal: Field<string> = {
	...location,
	property: { ...location.property, displayOptions: { show: { '/tryPersonal': [true] } } },
};

const costNotice = noticeField(
	'notice',
	"Each person costs 1 or 2 paid calls, or up to 4 with 'Try Personal Email'.",
);

/** One kind of address that a person may have. */
interface Candidate {
	emailType: 'business' | 'personal';
	request: ServiceRequest;
	/** Whether the service may refuse the request, which then counts as not found. */
	mayBeRefused: boolean;
}

/** The outcome for a candidate, with all that the service returned about it. */
interface Try extends IDataObject {
	emailType: Candidate['emailType'];
	outcome: string;
}

export const enrich: Operation = {
	value: 'enrich',
	name: 'Find and Verify',
	action: 'Find and verify email',
	description: 'Find the business or personal email address of a person, and verify it',
	paid: 'lookup',
	fields: [costNotice, ...nameFields, company, linkedinUrl, accept, tryPersonal],
	options: [locationIfPersonal, minConfidence],
	output: {
		found: true,
		emailType: 'business',
		...findBusiness.output,
		...verify.output,
		tried: 'business: valid',
		rejected: [
			{ email: 'ada@home.example', emailType: 'personal', outcome: 'invalid', confidence: 0.55 },
		],
	},
	split: foundOrNot,
	prepare(parameters) {
		const acceptance = readAcceptance(parameters);
		const candidates = readCandidates(parameters);
		return {
			request: candidates[0].request,
			mayFollow: 2 * candidates.length - 1,
			run: async (service) => await findAndVerify(candidates, acceptance, service),
		};
	},
};

/** Tries one kind of address after the other, until one is good enough. */
async function findAndVerify(
	candidates: Candidate[],
	acceptance: Acceptance,
	service: ItemService,
): Promise<IDataObject> {
	const tries: Try[] = [];
	try {
		for (const candidate of candidates) {
			const result = await tryCandidate(candidate, acceptance, service, tries);
			if (result) return { found: true, ...result, ...summary(tries, tries.slice(0, -1)) };
		}
	} catch (error) {
		// Results that were bought so far must not get lost with the step that failed.
		throw error instanceof LeadGenError && tries.length > 0
			? error.with(
					{ bought: tries },
					'The field "bought" contains what was found before this error.',
				)
			: error;
	}
	return { found: false, email: null, ...summary(tries, tries) };
}

/** What only a verification decides. In other fields the search comes first. */
const VERDICT_FIELDS = new Set(['status', 'deliverable', 'disposable', 'freeProvider']);
/** What the outcome of a rejected address already says, or what nobody needs of one. */
const UNNEEDED = new Set([
	...VERDICT_FIELDS,
	'found',
	'confidenceLevel',
	'sources',
	'verification',
]);

/**
 * Lists in one line what was tried, and the addresses that were not good enough, each short enough for the cell of a table.
 * An answer without an address is kept there, too.
 */
function summary(tries: Try[], turnedDown: Try[]): IDataObject {
	const rejected = turnedDown
		.filter(({ email, emailAnswer }) => email ?? emailAnswer)
		.map(({ email, emailType, outcome, ...others }) => {
			return { email, emailType, outcome, ...without(others, UNNEEDED) };
		});
	return {
		tried: tries.map(({ emailType, outcome }) => `${emailType}: ${outcome}`).join(', '),
		...(rejected.length > 0 && { rejected }),
	};
}

/** The candidates in the order of the search; at least one. */
function readCandidates(parameters: Parameters): [Candidate, ...Candidate[]] {
	const profile = parameters.get(linkedinUrl);
	const name = { ...readName(parameters), linkedinUrl: profile };
	const domain = parameters.get(company);
	const withPersonal = parameters.get(tryPersonal);
	const businessOne = (): Candidate => ({
		emailType: 'business',
		request: findBusiness.requestFor({ ...name, company: domain }),
		mayBeRefused: withPersonal && !domain,
	});
	if (!withPersonal) return [businessOne()];
	const personalOne = (mayBeRefused: boolean): Candidate => ({
		emailType: 'personal',
		request: findPersonal.requestFor({ ...name, location: parameters.option(locationIfPersonal) }),
		mayBeRefused,
	});
	// Without a company or a profile, a business address cannot be found. So look only for the personal address.
	return domain || profile ? [businessOne(), personalOne(!profile)] : [personalOne(false)];
}

/** A profile without a company may not be enough, or a name without a profile (docs/service.md, What is not known). */
function notWithoutMore(error: unknown): IDataObject {
	if (!(error instanceof ServiceError) || error.code !== 'INVALID_REQUEST') throw error;
	return { found: false, email: null, refused: error.message };
}

/**
 * Finds and verifies one kind of address. Pays for no verification that cannot change the result.
 * @param tries receives the outcome, with all that the service returned, even if the verification fails
 * @returns the address with all that is known about it, if it is good enough
 */
async function tryCandidate(
	{ emailType, request, mayBeRefused }: Candidate,
	{ accepted, minConfidence }: Acceptance,
	service: ItemService,
	tries: Try[],
): Promise<IDataObject | undefined> {
	const answer = find(request, service);
	const found = await (mayBeRefused ? answer.catch(notWithoutMore) : answer);
	const own: Try = { ...found, emailType, outcome: 'not found' };
	tries.push(own);
	const { email } = found;
	if (!found.found || typeof email !== 'string') return undefined;

	own.outcome = 'not verified';
	const confidence = numberIn(found.confidence);
	if (confidence !== undefined && confidence < minConfidence) {
		own.outcome = 'confidence too low';
		return undefined;
	}
	const verdict = await service.data(verifyRequest(email));
	const outcome = wordIn(verdict.status) ?? 'unknown';
	const result = withVerdict(found, verdict);
	Object.assign(own, result, { outcome });
	return accepted.has(outcome) ? { emailType, ...result } : undefined;
}

/** Merges the results of the two calls. If they differ in a field, `verification` contains the value of the verification. */
function withVerdict(found: IDataObject, verdict: IDataObject): IDataObject {
	const searched = without(found, VERDICT_FIELDS);
	const differing = Object.entries(verdict).filter(
		([name, value]) => name in searched && JSON.stringify(value) !== JSON.stringify(searched[name]),
	);
	const verification = filled(Object.fromEntries(differing));
	return { ...found, ...verdict, ...searched, ...(verification && { verification }) };
}
