/** What comes out of an item whose call fails, in each way in which n8n treats a failed item. */
import { inspect } from 'node:util';
import type { FaultRule } from '../lab/sandbox/settings';
import type { NodeResult, NodeRun } from './engine';
import { useOtherHost } from './otherHost';
import { containing, including, paired, someText, verdictOn } from './expected';
import {
	BALANCE,
	FIND_ROWS,
	PERSONAL_ROWS,
	START_AND_WAIT_ROWS,
	START_ROWS,
	VERIFY,
	VERIFY_ROWS,
	keepGoing,
	post,
} from './given';
import { SECRET, useService } from './service';

const service = useService();
const { sandbox } = service;
const otherHost = useOtherHost();

const ADDRESS = { email: '={{ $json.address }}' };

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
	/** 1 if the outcome is not known, and otherwise 0. */
	paidCalls?: number;
	code?: unknown;
	httpStatus?: number;
	answer?: unknown;
	field?: string;
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

const envelope = (
	code: string,
	status: number,
	outcome = 'refused',
	cost?: { paidCalls: number },
): Case => [
	`${code} with HTTP ${String(status)}`,
	{ kind: 'envelope', code, status, message: 'Oops' },
	{ ...says(status, outcome, code), ...cost },
];
const page = (status: number, outcome: string, answer?: unknown): Case => [
	`a web page with HTTP ${String(status)}`,
	{ kind: 'html', status },
	answered('a web page', status, outcome, answer),
];

const cases: Case[] = [
	envelope('INVALID_REQUEST', 400),
	envelope('UNAUTHORIZED', 401),
	// A lookup that finds nothing may cost as much.
	envelope('NOT_FOUND', 404, 'refused', { paidCalls: 1 }),
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
	...['OK', '[]', 'null'].map((text): Case => [
		`the text ${text}`,
		body(text),
		answered(OTHER, 200, 'unknown', text),
	]),
	['an empty body', { kind: 'emptyBody' }, answered('an empty body', 200, 'unknown')],
	['no data', { kind: 'noData' }, noResult],
	[
		'data that is a list',
		body('{"success":true,"data":[]}'),
		{ ...noResult, answer: { data: [] } },
	],
	['a reset after the work', { kind: 'resetAfterWork' }, brokeOff],
	['a reset amid the body', { kind: 'resetMidBody' }, { ...brokeOff, code: someText }],
	['no answer after the work', { kind: 'hangAfterWork' }, tooLate],
	['half an answer and then a long pause', { kind: 'slowBody', delayMs: 5000 }, tooLate],
	...[302, 307, 308].map((status): Case => [
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
	const inputOf = (address: string, id: number) => ({ address, id, status: 'new' });
	const trouble = inputOf('trouble@acme.com', 2);
	const inputs = [inputOf('valid.a@acme.com', 1), trouble, inputOf('valid.b@acme.com', 3)];
	const itemsWith = (failed: object) =>
		paired(
			inputs.map((input) =>
				input === trouble ? failed : { ...verdictOn(input.address), paidCalls: 1 },
			),
		);
	const error = () => {
		const told = message.replace('ELSEWHERE', otherHost.url);
		const paidCalls = details.outcome === 'unknown' ? 1 : 0;
		return { message: told, advice: someText, paidCalls, ...details };
	};
	async function runWith(options: Partial<NodeRun>) {
		const match = { bodyIncludes: 'trouble' };
		const requestTimeout = timeoutFor(fault);
		// All are in flight when an answer comes that may end the run.
		const latencyMs = requestTimeout < 1 ? 0 : 50;
		sandbox.set({ latencyMs, faults: [{ ...fault, location: otherHost.url, match }] });
		const result = await run(VERIFY, { ...ADDRESS, options: { requestTimeout } }, inputs, options);
		const calls = inputs.map(({ address }) => post('/email/verify', { email: address }));
		if (options.onError) service.expectCalls(calls);
		const sent = sandbox.requests.map((request) => JSON.stringify(request.body));
		expect(sent.filter((text) => text === '{"email":"trouble@acme.com"}')).toHaveLength(1);
		return result;
	}

	test('on the regular output', async () => {
		const { items, errorItems } = await runWith(keepGoing);
		// An old status would look like that of the run.
		const { address, id } = trouble;
		expect(items).toEqual(itemsWith({ address, id, error: error() }));
		expect(errorItems).toEqual([]);
	});

	test('on the error output', async () => {
		const { items, errorItems } = await runWith({ onError: 'continueErrorOutput' });
		const all = itemsWith({ ...trouble, error: error() });
		expect(items).toEqual(all.toSpliced(1, 1));
		expect(errorItems).toEqual(all.slice(1, 2));
	});

	test('as a failure of the node', async () => {
		const { items, error: thrown, run: execution } = await runWith({});
		expect(execution.status).toBe('error');
		expect(items).toEqual([]);
		const { httpStatus } = details;
		expect(thrown).toMatchObject({
			...{ message: error().message, description: someText, context: { itemIndex: 1 } },
			...(httpStatus !== undefined && { httpCode: String(httpStatus) }),
		});
	});
});

test('Redirects are not followed by requests that cost nothing', async () => {
	sandbox.set({ faults: [{ kind: 'redirect', location: otherHost.url }] });
	const { items } = await run(BALANCE, {}, [{ a: 1 }, { a: 2 }], keepGoing);
	const redirected = { message: `The service redirects to ${otherHost.url}` };
	expect(items.map(({ json }) => json.error)).toMatchObject([redirected, redirected]);
});

describe.each([FIND_ROWS, PERSONAL_ROWS, VERIFY_ROWS, START_ROWS, START_AND_WAIT_ROWS])(
	'What may have been paid for is never sent again: $operation',
	(action) => {
		const rows = ['Ann', 'Trouble', 'Bob'].map((name) => ({ name }));
		// The other ways in which an answer may be missing are above.
		test.each<FaultRule>([
			{ kind: 'resetAfterWork' },
			{ kind: 'hangAfterWork' },
			{ kind: 'html', status: 502, afterWork: true },
			{ kind: 'noData', afterWork: true },
		])('$kind', async (fault) => {
			const match = { bodyIncludes: 'Trouble' };
			sandbox.set({ job: { durationMs: 0 }, faults: [{ ...fault, match }] });
			const { items } = await service.runRows(action, rows, { requestTimeout: timeoutFor(fault) });

			const error = including({ message: someText, advice: someText, outcome: 'unknown' });
			const result = expect.not.objectContaining({ error }) as object;
			expect(items).toEqual(paired([result, { ...rows[1], error }, result]));
			const calls = rows.map(action.callFor);
			service.expectCalls(calls, calls[0]?.path);
		});
	},
);

describe('A credential that cannot work', () => {
	const inputs = ['a', 'b', 'c'].map((name) => ({ address: `valid.${name}@acme.com` }));
	const refused = (field: string, problem: string) => ({
		message: `${field} in the LeadGen credential ${problem}`,
		field,
		outcome: 'notSent',
	});
	const notSent = (message: string, code: unknown) => failure(message, 'notSent', code);
	const unreached = 'The service could not be reached';
	/** HOST in a base URL is the host of the sandbox. */
	type Broken = [name: string, credential: { baseUrl?: string; apiKey?: string }, failure: Failure];
	// All ways to get it wrong are in credential.test.ts.
	const broken: Broken[] = [
		['HTTPS where there is none', { baseUrl: 'https://HOST' }, notSent(unreached, 'EPROTO')],
		[
			'a path that the service does not have',
			{ baseUrl: 'http://HOST/v2' },
			{ ...says(404, 'refused', 'NOT_FOUND', 'No such path'), paidCalls: 1 },
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

	test.each(broken)('%s', async (name, { baseUrl = 'http://HOST', apiKey }, details) => {
		if (name.startsWith('a path')) service.expectViolations();
		const options: Partial<NodeRun> = {
			baseUrl: baseUrl.replace('HOST', new URL(sandbox.url).host),
			credential: apiKey === undefined ? {} : { apiKey },
		};
		const { items } = await run(VERIFY, ADDRESS, inputs, { ...options, ...keepGoing });
		const error = { advice: someText, paidCalls: 0, ...details };
		expect(items).toEqual(paired(inputs.map((input) => ({ ...input, error }))));
		if (details.field !== undefined) expect(sandbox.requests).toEqual([]);

		const { error: thrown } = await run(VERIFY, ADDRESS, inputs, options);
		expect(thrown).toMatchObject({ message: details.message, description: someText });
	});

	test.each([
		['a closed port', 'http://127.0.0.1:1', unreached, /ECONNREFUSED/],
		[
			'a host that does not exist',
			'http://no-host.invalid',
			'The host of the service was not found',
			/ENOTFOUND|EAI_AGAIN/,
		],
	])('%s ends the run after some seconds', async (_, baseUrl, message, code) => {
		const since = Date.now();
		const { items } = await run(VERIFY, ADDRESS, inputs, { baseUrl, ...keepGoing });
		expect(Date.now() - since).toBeLessThan(20_000);
		const advice = expect.stringMatching(code) as string;
		const error = { advice, outcome: 'notSent', paidCalls: 0 };
		const tried = { ...error, message, code: expect.stringMatching(code) as string };
		const others = {
			...error,
			message: `Not sent: an earlier request failed. ${message}`,
			attempted: false,
		};
		const errors = items.map(({ json }) => json.error as { attempted?: boolean });
		const isTried = errors.map(({ attempted }) => attempted === undefined);
		expect(isTried).toContain(true);
		expect(items).toEqual(
			paired(inputs.map((input, at) => ({ ...input, error: isTried[at] ? tried : others }))),
		);
	});
});
