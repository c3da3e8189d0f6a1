/** What comes out of an item whose call fails, in each way in which n8n treats a failed item. */
import { inspect } from 'node:util';
import type { INodeParameters } from 'n8n-workflow';
import type { FaultRule } from '../lab/sandbox/settings';
import type { NodeResult, NodeRun } from './engine';
import { useOtherHost } from './otherHost';
import { containing, including, paired, someText, verdictOn } from './expected';
import {
	BALANCE,
	FIND,
	PERSONAL,
	START,
	START_AND_WAIT,
	VERIFY,
	keepGoing,
	people,
	person,
	post,
	type Operation,
} from './given';
import { SECRET, useService } from './service';

const service = useService();
const { sandbox } = service;
const otherHost = useOtherHost();

const ADDRESS = { email: '={{ $json.address }}' };

/** All that was written to the console during a test. */
let printed = '';

beforeEach(() => {
	printed = '';
	for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const) {
		jest.spyOn(console, method).mockImplementation((...parts: unknown[]) => {
			printed += inspect(parts, { depth: Infinity });
		});
	}
});
afterEach(() => {
	expect(printed).not.toContain(SECRET);
});

/** Runs an operation and makes sure that the key is nowhere in what n8n keeps of the run. */
async function run(...given: Parameters<typeof service.run>): Promise<NodeResult> {
	const result = await service.run(...given);
	expect(inspect([result.record, result.run], { depth: Infinity })).not.toContain(SECRET);
	return result;
}

/** What a failed item says of its request, beside what to do next. */
interface Failure {
	message: string;
	outcome?: string;
	code?: unknown;
	httpStatus?: number;
	answer?: unknown;
	field?: string;
	advice?: unknown;
}

/** What comes out for an item: its result, or its fields with the failure. */
interface Outcome {
	error?: Failure;
	[field: string]: unknown;
}

/** Tests what comes out of the items in each of the ways in which n8n can treat a failed one. */
function testEachWay(
	runWith: (options: Partial<NodeRun>) => Promise<NodeResult>,
	outcomes: () => Outcome[],
): void {
	const isFailed = ({ json }: { json: object }) => 'error' in json;

	test('on the regular output', async () => {
		const { items, errorItems } = await runWith(keepGoing);
		// An old status would look like that of the run.
		const jsons = outcomes().map((json) => {
			const { status, ...others } = json;
			return isFailed({ json }) ? others : { ...others, ...(status !== undefined && { status }) };
		});
		expect(items).toEqual(paired(jsons));
		expect(errorItems).toEqual([]);
	});

	test('on the error output', async () => {
		const { items, errorItems } = await runWith({ onError: 'continueErrorOutput' });
		const all = paired(outcomes());
		expect(items).toEqual(all.filter((item) => !isFailed(item)));
		expect(errorItems).toEqual(all.filter(isFailed));
	});

	test('as a failure of the node', async () => {
		const { items, error, run: execution } = await runWith({});
		expect(execution.status).toBe('error');
		expect(items).toEqual([]);
		// Whichever item failed first.
		const { message, httpStatus } = outcomes()[Number(error?.context.itemIndex)]?.error ?? {};
		expect(error).toMatchObject({
			message,
			description: someText,
			...(httpStatus !== undefined && { httpCode: String(httpStatus) }),
		});
	});
}

const failure = (message: string, outcome: string, code?: unknown, httpStatus?: number) => ({
	message,
	outcome,
	code,
	httpStatus,
});
const says = (httpStatus: number, outcome: string, code?: string, text = 'Oops') =>
	failure(`The service says: ${text}${code ? ` (${code})` : ''}`, outcome, code, httpStatus);
const answered = (what: string, httpStatus: number, outcome: string, answer?: unknown) => ({
	...failure(`The service answered HTTP ${String(httpStatus)} with ${what}`, outcome),
	httpStatus,
	answer,
});
const OTHER = 'something other than the expected JSON';
const noResult = failure('The service returned no result', 'unknown');
const brokeOff = failure(
	'The connection broke before the service answered',
	'unknown',
	'ECONNRESET',
);
const tooLate = failure('The service did not answer in time', 'unknown', 'ECONNABORTED');
const body = (text: string, status = 200): FaultRule => ({ kind: 'status', status, body: text });

type Case = [name: string, fault: FaultRule, failure: Failure];

const envelope = (code: string, status: number, outcome = 'refused'): Case => [
	`${code} with HTTP ${String(status)}`,
	{ kind: 'envelope', code, status, message: 'Oops' },
	says(status, outcome, code),
];
const page = (status: number, outcome: string, answer?: unknown): Case => [
	`a web page with HTTP ${String(status)}`,
	{ kind: 'html', status },
	answered('a web page', status, outcome, answer),
];

const cases: Case[] = [
	envelope('INVALID_REQUEST', 400),
	envelope('UNAUTHORIZED', 401),
	envelope('NOT_FOUND', 404),
	envelope('NOT_FOUND', 200),
	envelope('MAINTENANCE', 400),
	// A service that breaks down may have done the work before, and a code that is not known may say so.
	envelope('MAINTENANCE', 200, 'unknown'),
	envelope('MAINTENANCE', 408, 'unknown'),
	envelope('INVALID_REQUEST', 500, 'unknown'),
	[
		'an error without code and message',
		body('{"success":false}'),
		failure('The service reports an error, without a message or a code', 'unknown', undefined, 200),
	],
	[
		'an error that is not marked as one',
		body('{"error":{"code":"ODD","message":"Oops"}}'),
		says(200, 'unknown', 'ODD'),
	],
	// n8n replaces a message that names a network error, unless the node prevents it.
	[
		'an error that names a network error',
		{ kind: 'envelope', code: 'INTERNAL', status: 500, message: 'upstream ETIMEDOUT' },
		says(500, 'unknown', 'INTERNAL', 'upstream ETIMEDOUT'),
	],
	page(200, 'unknown', containing('<html>')),
	page(404, 'refused'),
	page(408, 'unknown'),
	page(502, 'unknown'),
	['broken JSON', { kind: 'brokenJson' }, answered(OTHER, 200, 'unknown', someText)],
	...['OK', '[]', 'null', '17'].map((text): Case => [
		`the text ${text}`,
		body(text),
		answered(OTHER, 200, 'unknown', text),
	]),
	['an empty body', { kind: 'emptyBody' }, answered('an empty body', 200, 'unknown')],
	['an empty body with HTTP 500', body('', 500), answered('an empty body', 500, 'unknown')],
	['no data', { kind: 'noData' }, noResult],
	[
		'data that is a list',
		body('{"success":true,"data":[]}'),
		{ ...noResult, answer: { data: [] } },
	],
	['a reset before the work', { kind: 'resetBeforeWork' }, brokeOff],
	['a reset after the work', { kind: 'resetAfterWork' }, brokeOff],
	['a reset amid the body', { kind: 'resetMidBody' }, { ...brokeOff, code: someText }],
	['no answer, ever', { kind: 'hang' }, tooLate],
	['no answer after the work', { kind: 'hangAfterWork' }, tooLate],
	['half an answer and then a long pause', { kind: 'slowBody', delayMs: 5000 }, tooLate],
	...[302, 307].map((status): Case => [
		`Redirects are not followed, such as HTTP ${String(status)}`,
		{ kind: 'redirect', status },
		// Many services answer a POST that is done, and may have been paid for, with a redirect to its result.
		{
			message: 'The service redirects to ELSEWHERE',
			outcome: status <= 303 ? 'unknown' : 'refused',
			httpStatus: status,
		},
	]),
];

/** Seconds. */
const timeoutFor = ({ kind }: FaultRule) => (/^(hang|slow)/.test(kind) ? 0.3 : 60);

describe.each(cases)('%s', (_name, fault, { message, ...details }) => {
	const inputs = ['valid.a@acme.com', 'trouble@acme.com', 'valid.b@acme.com'].map(
		(address, index) => ({ address, id: index + 1, status: 'new' }),
	);
	const parameters = { ...ADDRESS, options: { requestTimeout: timeoutFor(fault) } };
	async function runWith(options: Partial<NodeRun>) {
		const match = { bodyIncludes: 'trouble' };
		sandbox.set({ faults: [{ ...fault, location: otherHost.url, match }] });
		const result = await run(VERIFY, parameters, inputs, options);
		const calls = inputs.map(({ address }) => post('/email/verify', { email: address }));
		if (options.onError) service.expectCalls(calls);
		const sent = sandbox.requests.map((request) => JSON.stringify(request.body));
		expect(sent.filter((text) => text === '{"email":"trouble@acme.com"}')).toHaveLength(1);
		return result;
	}

	testEachWay(runWith, () => {
		const error = {
			message: message.replace('ELSEWHERE', otherHost.url),
			advice: someText,
			...details,
		};
		const [first, , last] = inputs;
		return [verdictOn(first?.address), { ...inputs[1], error }, verdictOn(last?.address)];
	});
});

test('Redirects are not followed by requests that cost nothing', async () => {
	sandbox.set({ faults: [{ kind: 'redirect', location: otherHost.url }] });
	const { items } = await run(BALANCE, {}, [{ a: 1 }, { a: 2 }], keepGoing);
	const redirected = { message: `The service redirects to ${otherHost.url}` };
	expect(items.map(({ json }) => json.error)).toMatchObject([redirected, redirected]);
});

describe('What may have been paid for is never sent again', () => {
	const inputs = people('Ann Sure', 'Trouble Sure', 'Bob Sure');
	const { firstName: name } = person;
	const scrape = { limit: 1, filters: { jobTitles: [name] } };
	const operations: Array<[Operation, INodeParameters]> = [
		[FIND, person],
		[PERSONAL, person],
		[VERIFY, { email: `${name}@acme.com` }],
		[START, scrape],
		[START_AND_WAIT, scrape],
	];
	// The other ways in which an answer may be missing are above.
	const faults: FaultRule[] = [
		{ kind: 'resetAfterWork' },
		{ kind: 'hangAfterWork' },
		{ kind: 'html', status: 502, afterWork: true },
		{ kind: 'noData', afterWork: true },
	];

	describe.each(operations)('%j', (operation, parameters) => {
		test.each(faults)('$kind', async (fault) => {
			sandbox.set({
				job: { durationMs: 0 },
				faults: [{ ...fault, match: { bodyIncludes: 'Trouble' } }],
			});
			const options = { requestTimeout: timeoutFor(fault) };
			const { items } = await run(operation, { ...parameters, options }, inputs, keepGoing);

			const error = including({ message: someText, advice: someText, outcome: 'unknown' });
			const result: unknown = expect.not.objectContaining({ error });
			expect(items).toEqual(paired([result as object, { ...inputs[1], error }, result as object]));
			expect(sandbox.requests.filter(({ method }) => method === 'POST')).toHaveLength(3);
		});
	});
});

describe('A credential that cannot work', () => {
	const inputs = ['valid.a@acme.com', 'valid.b@acme.com', 'valid.c@acme.com'].map((address) => ({
		address,
	}));
	const refused = (field: string, problem: string) => ({
		message: `${field} in the LeadGen credential ${problem}`,
		field,
		outcome: 'notSent',
	});
	const notSent = (message: string, code: unknown) => failure(message, 'notSent', code);
	const unreached = 'The service could not be reached';
	const noHost: unknown = expect.stringMatching(/^(ENOTFOUND|EAI_AGAIN)$/);
	/** HOST in a base URL is the host of the sandbox. */
	type Broken = [name: string, credential: { baseUrl?: string; apiKey?: string }, failure: Failure];
	// All ways to get it wrong are in credential.test.ts.
	const broken: Broken[] = [
		['a closed port', { baseUrl: 'http://127.0.0.1:1' }, notSent(unreached, 'ECONNREFUSED')],
		[
			'a host that does not exist',
			{ baseUrl: 'http://no-host.invalid' },
			notSent('The host of the service was not found', noHost),
		],
		['HTTPS where there is none', { baseUrl: 'https://HOST' }, notSent(unreached, 'EPROTO')],
		[
			'a path that the service does not have',
			{ baseUrl: 'http://HOST/v2' },
			says(404, 'refused', 'NOT_FOUND', 'No such path'),
		],
		[
			'a key that the service does not know',
			{ apiKey: `${SECRET}-old` },
			says(401, 'refused', 'UNAUTHORIZED', 'Invalid or missing API key'),
		],
		[
			'a base URL without https',
			{ baseUrl: 'api.example.com' },
			refused('Base URL', 'must begin with https://'),
		],
		[
			'a key with a character that cannot be seen',
			{ apiKey: `${SECRET}\u200B-1` },
			refused('API Key', 'contains a character that no key can contain (U+200B)'),
		],
	];

	describe.each(broken)('%s', (name, { baseUrl = 'http://HOST', apiKey }, details) => {
		async function runWith(options: Partial<NodeRun>) {
			if (name.startsWith('a path')) service.expectViolations();
			const result = await run(VERIFY, ADDRESS, inputs, {
				...options,
				baseUrl: baseUrl.replace('HOST', new URL(sandbox.url).host),
				credential: apiKey === undefined ? {} : { apiKey },
			});
			if (details.field !== undefined) expect(sandbox.requests).toEqual([]);
			return result;
		}

		testEachWay(runWith, () =>
			inputs.map((input) => ({ ...input, error: { advice: someText, ...details } })),
		);
	});
});
