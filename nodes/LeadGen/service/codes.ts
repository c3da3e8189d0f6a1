import type { ServiceError } from '../common/errors';

/** What to do about each error code of docs/service.md (The envelope). */
export const ADVICE = new Map([
	['INVALID_REQUEST', 'The service does not accept the fields of this item. Check them.'],
	['UNAUTHORIZED', 'Check the API key in the LeadGen credential.'],
	[
		'INSUFFICIENT_CREDITS',
		'This request cost nothing. Add credits to the account, or wait until they reset.',
	],
	[
		'NOT_FOUND',
		'The service did not find what this request asks for. Check the values, such as the scrape ID.',
	],
	['RATE_LIMIT_EXCEEDED', 'The account makes more requests than its plan allows. Try again later.'],
]);

/** Whether the service documents an error code. */
export function isDocumented(code: string): boolean {
	return ADVICE.has(code);
}

/** Ways to say that credits are missing, in lower case. That a call cost no credits is something else. */
const NO_CREDITS = [
	/(insufficient|too few|(not|n['’]t)( have)? enough)( \w+)? (credits?|balance|funds)\b/,
	/\bout of credits?\b/,
	/\bno( more)? credits? (left|remaining|available)/,
	/(^|\bhave )no( more)? credits?([.,;:!]|$)/,
	/(?<!\b(no|0) )\bcredits?( (?!not\b)\w+){0,3} (?<!\bnot )(exhausted|depleted|used up|too low)/,
	/\bcredits? (limit|quota)( (?!not\b)\w+){0,2} (?<!\bnot )(exceeded|reached)/,
];

/** Ways to say `NOT_FOUND` with the name of what is missing. A path or an account that is missing is something else. */
const MISSING =
	'(e ?mail|person|people|contact|profile|lead|match|record|result|scrape|job|resource)';
const NOTHING_FOUND = new RegExp(
	`^${MISSING}(es|s)?( address)? (was |were )?not found$|^no ${MISSING}(es|s)?( address)? (was |were )?found$`,
);

/** The documented code that a text spells in its own way, such as "Not found". */
export function documentedCode(text: string): string | undefined {
	const words = text
		.trim()
		.toLowerCase()
		.replace(/[\s_-]+/g, ' ');
	const code = words.toUpperCase().replaceAll(' ', '_');
	if (isDocumented(code)) return code;
	if (NOTHING_FOUND.test(words.replace(/[.!]$/, ''))) return 'NOT_FOUND';
	return NO_CREDITS.some((way) => way.test(words)) ? 'INSUFFICIENT_CREDITS' : undefined;
}

/** Whether the account has too few credits for a call. */
export function isOutOfCredits({ code, httpStatus }: ServiceError): boolean {
	return code === 'INSUFFICIENT_CREDITS' || httpStatus === 402;
}
