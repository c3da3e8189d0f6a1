/** What an answer means: a result, an error that cost nothing, or one that may have been paid for. */
import { foundNobody, meaningOf, readEnvelope } from '../nodes/LeadGen/service/answer';
import type { ServiceRequest } from '../nodes/LeadGen/service/request';
import { containing, matching, mayBeDone } from './expected';

const lookup: ServiceRequest = { kind: 'lookup', path: '/email/verify' };
const read: ServiceRequest = { kind: 'read', path: '/credits' };

interface Given {
	status?: number;
	/** An object is sent as JSON. */
	body?: unknown;
	headers?: Record<string, string>;
	request?: ServiceRequest;
	/** Whether the service accepted other calls with the key. */
	isKeyRight?: boolean;
}

function answerTo({ status = 200, body = '', headers = {}, request = lookup, isKeyRight }: Given) {
	const text = typeof body === 'string' ? body : JSON.stringify(body);
	return readEnvelope({ status, headers, text }, request, isKeyRight);
}

/** The data of an answer, or all that its error says. */
function told(given: Given): object {
	const answer = answerTo(given);
	if ('data' in answer) return answer;
	const { message, advice, details, isForeign } = answer.error;
	return { message, advice, ...details, ...(isForeign && { isForeign }) };
}

const checkFields = containing('does not accept these values');
const checkKey = 'Check the API key in the LeadGen credential.';
const addCredits = containing('Add credits to the account');
const checkValues = containing('did not find what this request asks for');
const tryLater = containing('more requests than its plan allows');
const lookUp = containing('Look up this code');
const askProvider = containing('ask the provider of the service');
const checkAddress = containing('Check the base URL in the LeadGen credential');
const tryAgain = containing(
	'a gateway or a firewall may have answered this one. Try it again later',
);

describe('A code', () => {
	type Given = [sent: unknown, status: number, outcome: string, advice: unknown, as?: string];
	test.each<Given>([
		['invalid_request', 400, 'refused', checkFields, 'INVALID_REQUEST'],
		['UNAUTHORIZED', 401, 'refused', checkKey],
		['unauthorized', 200, 'refused', checkKey, 'UNAUTHORIZED'],
		['FORBIDDEN', 403, 'refused', checkKey],
		['Insufficient Credits', 200, 'refused', addCredits, 'INSUFFICIENT_CREDITS'],
		['NOT_FOUND', 404, 'refused', checkValues],
		['EMAIL_NOT_FOUND', 200, 'refused', checkValues, 'NOT_FOUND'],
		...'PERSON CONTACT PROFILE LEAD COMPANY SCRAPE JOB'
			.split(' ')
			.map((what): Given => [`${what}_NOT_FOUND`, 200, 'refused', checkValues, 'NOT_FOUND']),
		['ROUTE_NOT_FOUND', 404, 'refused', lookUp],
		['RATE_LIMIT_EXCEEDED', 429, 'refused', tryLater],
		['RATE_LIMIT_EXCEEDED', 200, 'refused', tryLater],
		['RATE_LIMIT_EXCEEDED', 503, 'refused', tryLater],
		['MAINTENANCE', 400, 'refused', lookUp],
		[1007, 422, 'refused', lookUp],
		// A service that breaks down may have done the work before, and a code that is not known may say so.
		['MAINTENANCE', 200, 'unknown', mayBeDone],
		['MAINTENANCE', 408, 'unknown', mayBeDone],
		['INVALID_REQUEST', 500, 'unknown', mayBeDone],
		['INSUFFICIENT_CREDITS', 502, 'unknown', mayBeDone],
		// Every object of JavaScript has a field with this name.
		['constructor', 200, 'unknown', mayBeDone],
	])('%s with HTTP %d means that the outcome is %s', (...given) => {
		const [sent, status, outcome, advice, code = String(sent)] = given;
		const message = `The service says: Oops (${code})`;
		const error = { code: sent, message: 'Oops' };
		for (const own of [{ error }, error]) {
			const answer = told({ status, body: { success: false, ...own } });
			expect(answer).toEqual({ message, advice, outcome, code, httpStatus: status });
		}
	});

	test.each<[status: number, code: string, meaning: string | undefined]>([
		[402, '', 'INSUFFICIENT_CREDITS'],
		[429, 'TOO_FAST', 'RATE_LIMIT_EXCEEDED'],
		[401, '', 'UNAUTHORIZED'],
		[404, '', undefined],
		[404, 'ROUTE_NOT_FOUND', undefined],
		[500, 'DOWN', undefined],
	])('is not needed where the status says enough: HTTP %d with %j', (status, code, meaning) => {
		const answer = answerTo({ status, body: { success: false, error: { code, message: 'Oops' } } });
		expect(meaningOf('error' in answer && answer.error)).toBe(meaning);
	});
});

describe('HTTP 404', () => {
	const path = '/v2/email/find';
	const noPath = { outcome: 'refused', isForeign: true, advice: checkAddress };
	test.each<[what: string, isNobody: boolean, body: unknown, facts: object]>([
		['the code', true, { success: false, error: { code: 'NOT_FOUND' } }, { code: 'NOT_FOUND' }],
		['no `success`', true, { error: { code: 'Not found' } }, { code: 'NOT_FOUND' }],
		['another code', false, { success: false, error: { code: 'NO_PATH' } }, { code: 'NO_PATH' }],
		['Spring', false, { status: 404, error: 'Not Found', path }, noPath],
		['Nest', false, { message: 'Cannot POST /v2', error: 'Not Found' }, noPath],
		['FastAPI', false, { detail: 'Not Found' }, noPath],
		['Supabase', false, { code: 'NOT_FOUND', message: 'No such function' }, noPath],
		['a web page', false, '<html>', noPath],
	])('says that nobody is found, or that nobody knows the path: %s', (...given) => {
		const [, isNobody, body, facts] = given;
		const answer = answerTo({ status: 404, body });
		expect('error' in answer && foundNobody(answer.error)).toBe(isNobody);
		expect(told({ status: 404, body })).toMatchObject(facts);
	});
});

describe('A result', () => {
	const data = { email: 'p@acme.com', status: 'valid' };
	test.each<[body: object, data: object | null]>([
		[{ success: true, data }, data],
		[{ data }, data],
		[{ success: true, data: {} }, {}],
		[{ success: true, data, error: 'A warning', message: 'Done' }, data],
		[{ success: true, data: null, message: 'Nobody found', requestId: 'r1' }, null],
		[{ success: true, data: [] }, null],
	])('is in the data of %j', (body, expected) => {
		for (const status of [200, 202, 299])
			expect(told({ status, body })).toEqual({ data: expected });
	});

	test.each([null, []])('is needed where it is not a search: %j', (none) => {
		const request = { kind: 'lookup', path: '/email/verify', needsData: true } as const;
		const given = { status: 200, headers: {}, text: JSON.stringify({ success: true, data: none }) };
		const answer = readEnvelope(given, request);
		expect('error' in answer && answer.error).toMatchObject({ outcome: 'unknown' });
	});

	const other = { scrapeId: 'x', status: 'pending' };
	test.each<[body: object, kept: object | undefined]>([
		[{ success: true }, undefined],
		[{ success: true, ...other }, other],
		[{ success: true, data: [other] }, { data: [other] }],
	])('without data may be paid for, and the error keeps what came: %j', (body, answer) => {
		const message = 'The service returned no result';
		const facts = { message, advice: mayBeDone, outcome: 'unknown', httpStatus: 200 };
		expect(told({ body })).toEqual({ ...facts, ...(answer && { answer }) });
	});

	test.each([{}, other, { message: 'Welcome' }])(
		'that is no envelope may be of another server, unless the service accepted the key: %j',
		(body) => {
			const facts = { outcome: 'unknown', httpStatus: 200 };
			const answered = {
				...facts,
				message: 'The service answered HTTP 200 with something other than the expected JSON',
				advice: matching(/^Check the base URL .* The service may have done the work/),
				answer: JSON.stringify(body),
				isForeign: true,
			};
			expect(told({ body })).toEqual(answered);
			const given = { status: 200, headers: {}, text: JSON.stringify(body) };
			const answer = readEnvelope(given, { kind: 'lookup', path: '/email/verify' }, true);
			expect('error' in answer && answer.error).toMatchObject({ ...facts, advice: mayBeDone });
		},
	);
});

describe('An error', () => {
	test.each<[body: object, says: string]>([
		[{ success: true, data: null, error: 'Search is down' }, 'Search is down'],
		[{ data: null, message: 'Try later' }, 'Try later'],
		[{ data: null, error: { code: 'INTERNAL', message: 'Oops' } }, 'Oops (INTERNAL)'],
		[{ success: false, error: 'Insufficient credits' }, 'Insufficient credits'],
	])(
		'with HTTP 200 may be paid for, unless a code says that nothing was done: %j',
		(body, says) => {
			const facts = { message: `The service says: ${says}`, outcome: 'unknown', httpStatus: 200 };
			expect(told({ body })).toMatchObject({ ...facts, advice: mayBeDone });
		},
	);

	const none = 'The service reports an error, without a message or a code';
	const wrong = 'The service says: Wrong (E1)';
	const both = { code: 'E1', message: 'Wrong' };
	const details = [{ field: 'email', issue: 'No such domain' }];
	const data = { scrapeId: 's1' };
	test.each<[body: object, message: string, facts: object]>([
		[{ error: { code: '', message: '' } }, none, {}],
		[{ errors: ['too long'] }, none, { answer: { errors: ['too long'] } }],
		[
			{ error: { code: 'E1' } },
			'The service reports the error E1, without a message',
			{ code: 'E1' },
		],
		[{ message: 'Wrong' }, 'The service says: Wrong', {}],
		[
			{ error: { ...both, details, hint: '' }, requestId: 'r1', data: null },
			wrong,
			{ code: 'E1', answer: { error: { details }, requestId: 'r1' } },
		],
		[{ error: both, data }, wrong, { code: 'E1', answer: { data } }],
	])('is told in words, and keeps all that came with it: %j', (body, message, facts) => {
		const advice = 'code' in facts ? lookUp : askProvider;
		const known = { message, advice, outcome: 'refused', httpStatus: 422 };
		const answer = told({ status: 422, body: { success: false, ...body } });
		expect(answer).toEqual({ ...known, ...facts });
	});

	test('cuts long texts', () => {
		const long = 'It failed. '.repeat(50_000);
		for (const given of [
			{ status: 400, body: { success: false, error: { code: 'ODD', message: long } } },
			{ status: 400, body: { success: false, error: { code: long, message: '' } } },
			{ status: 307, headers: { location: `/a?${'b'.repeat(12_000)}` } },
		]) {
			const { message, code = '' } = told(given) as { message: string; code?: string };
			expect(message.length).toBeGreaterThan(500);
			expect(message.length).toBeLessThan(600);
			expect(code.length).toBeLessThanOrEqual(501);
		}
		const kept = told({ body: `scrape s17 ${'😀'.repeat(100_000)}` });
		expect(kept).toMatchObject({ answer: matching(/^scrape s17 (😀){2000,2100}…$/u) });
	});

	test('stays on one line, without control characters and markup', () => {
		const odd = 'a\r\n2026-01-01 | error | forged \u001B[31mred\u2028b <a href="//x.example">c</a>';
		const clean = 'a 2026-01-01 | error | forged [31mred b ‹a href="//x.example"›c‹/a›';
		const body = { success: false, error: { code: odd, message: odd } };
		const said = { message: `The service says: ${clean} (${clean})`, code: clean };
		expect(told({ status: 400, body })).toMatchObject(said);
	});
});

const OTHER = 'something other than the expected JSON';
const PAGE = 'a web page';
const EMPTY = 'an empty body';
describe('What is no JSON of the service', () => {
	type Odd = [number, string, what: string, outcome: string, advice: unknown, isForeign: boolean];
	test.each<Odd>([
		[200, '<html>Sign in</html>', PAGE, 'unknown', checkAddress, true],
		[403, '<html>', PAGE, 'refused', checkKey, true],
		[404, '<html>', PAGE, 'refused', checkAddress, true],
		[401, '', EMPTY, 'refused', checkKey, true],
		[402, 'Pay first', OTHER, 'refused', addCredits, true],
		[422, '{"detail":[{"field":"email"}]}', OTHER, 'refused', checkAddress, true],
		[200, '', EMPTY, 'unknown', checkAddress, true],
		[200, 'null', OTHER, 'unknown', mayBeDone, true],
		[200, '["s1"]', OTHER, 'unknown', mayBeDone, true],
		[200, '{"success":true,"data":{"scrapeId":"s1","stat', OTHER, 'unknown', mayBeDone, true],
		[408, '<html>', PAGE, 'unknown', mayBeDone, false],
		[502, '<html>', PAGE, 'unknown', mayBeDone, false],
		[503, 'busy', OTHER, 'unknown', mayBeDone, false],
		[429, 'Too Many Requests', OTHER, 'refused', tryLater, false],
	])('HTTP %d and %j is %s, and the outcome %s', (status, body, what, ...meaning) => {
		const [outcome, advice, isForeign] = meaning;
		const message = `The service answered HTTP ${String(status)} with ${what}`;
		// It may be what was paid for, or say why it failed.
		const isKept = body !== '' && (what !== PAGE || status === 200);
		const facts = { outcome, httpStatus: status, ...(isKept && { answer: body }) };
		const foreign = isForeign && { isForeign };
		expect(told({ status, body })).toEqual({ message, advice, ...facts, ...foreign });
	});

	test.each<[status: number, body: unknown, before: unknown, after: unknown, isForeign?: true]>([
		[403, '<html>', checkKey, tryAgain, true],
		[404, '<html>', checkAddress, tryAgain, true],
		[404, { message: 'Nobody of this name' }, checkAddress, askProvider],
	])('is not due to the credential if other calls were accepted: HTTP %d, %j', (...given) => {
		const [status, body, before, after, isForeign] = given;
		expect(told({ status, body })).toMatchObject({ outcome: 'refused', advice: before });
		const later = told({ status, body, isKeyRight: true });
		expect(later).toMatchObject({ outcome: 'refused', advice: after, httpStatus: status });
		expect('isForeign' in later).toBe(isForeign === true);
	});
});

test.each<[status: number, paid: string, free: string]>([
	// Many services answer a POST that is done, and may have been paid for, with a redirect to its result.
	[302, 'unknown', 'refused'],
	[303, 'unknown', 'refused'],
	[307, 'refused', 'refused'],
	[308, 'refused', 'refused'],
])('A redirect is not followed, and says where it goes: HTTP %d', (status, paid, free) => {
	const headers = { location: 'https://login.example/' };
	const message = 'The service redirects to https://login.example/';
	const advice = containing('enter it as the base URL');
	const known = { message, advice, httpStatus: status, isForeign: true };
	expect(told({ status, headers })).toEqual({ ...known, outcome: paid });
	expect(told({ status, headers, request: read })).toEqual({ ...known, outcome: free });
	expect(told({ status })).toMatchObject({
		message: 'The service redirects to an unnamed address',
	});
	if (paid === 'unknown') expect(told({ status, headers })).toMatchObject({ advice: mayBeDone });
});
