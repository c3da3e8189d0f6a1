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

/** The message of the sandbox. */
const WRONG = 'Something went wrong';
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

const failure = (
	message: string,
	outcome: string,
	code?: unknown,
	httpStatus?: number,
): Failure => ({
	message,
	outcome,
	code,
	httpStatus,
});
const says = (text: string, code: string, httpStatus: number, outcome = 'refused') =>
	failure(`The service says: ${text} (${code})`, outcome, code, httpStatus);
const brokeOff = 'The connection broke before the service answered';
const tooLate = failure('The service did not answer in time', 'unknown', 'ECONNABORTED');
const redirected = (outcome: string, httpStatus: number) =>
	failure('The service redirects to ELSEWHERE', outcome, undefined, httpStatus);

/** What else an answer may mean is in answer.test.ts. */
const cases: Array<[name: string, fault: FaultRule, failure: Failure]> = [
	['a refusal', { kind: 'envelope', code: 'PAUSED', status: 400 }, says(WRONG, 'PAUSED', 400)],
	[
		// A lookup that finds nothing may cost as much.
		'nobody',
		{ kind: 'envelope', code: 'NOT_FOUND' },
		{ ...says(WRONG, 'NOT_FOUND', 404), paidCalls: 1 },
	],
	[
		// n8n replaces a message that names a network error, unless the node prevents it.
		'an error that names a network error',
		{ kind: 'envelope', code: 'INTERNAL', status: 500, message: 'upstream ETIMEDOUT' },
		says('upstream ETIMEDOUT', 'INTERNAL', 500, 'unknown'),
	],
	[
		'a web page',
		{ kind: 'html', status: 200 },
		{
			...failure('The service answered HTTP 200 with a web page', 'unknown', undefined, 200),
			answer: containing('<html>'),
		},
	],
	[
		'no data',
		{ kind: 'noData' },
		failure('The service returned no result', 'unknown', undefined, 200),
	],
	[
		'a reset after the work',
		{ kind: 'resetAfterWork' },
		failure(brokeOff, 'unknown', 'ECONNRESET'),
	],
	['a reset amid the body', { kind: 'resetMidBody' }, failure(brokeOff, 'unknown', someText)],
	['no answer after the work', { kind: 'hangAfterWork' }, tooLate],
	['half an answer and then a long pause', { kind: 'slowBody', delayMs: 100_000 }, tooLate],
	['a redirect of a POST', { kind: 'redirect', status: 302 }, redirected('unknown', 302)],
	['a redirect before the work', { kind: 'redirect', status: 308 }, redirected('refused', 308)],
];

describe.each(cases)('An item whose call ends with %s', (_name, fault, { message, ...details }) => {
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
		// All are in flight when an answer comes that may end the run.
		sandbox.set({ latencyMs: 50, faults: [{ ...fault, location: otherHost.url, match }] });
		const result = await run(
			VERIFY,
			{ ...ADDRESS, options: { requestTimeout: 60 } },
			inputs,
			options,
		);
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
			const { items } = await service.runRows(action, rows, { requestTimeout: 60 });

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
	const unreached = 'The service could not be reached';
	/** HOST in a base URL is the host of the sandbox. */
	type Broken = [name: string, credential: { baseUrl?: string; apiKey?: string }, failure: Failure];
	// All ways to get it wrong are in credential.test.ts and networkErrors.test.ts.
	const broken: Broken[] = [
		[
			'a path that the service does not have',
			{ baseUrl: 'http://HOST/v2' },
			{ ...says('No such path', 'NOT_FOUND', 404), paidCalls: 1 },
		],
		[
			'a key that the service does not know',
			{ apiKey: `${SECRET}-old` },
			says('Invalid or missing API key', 'UNAUTHORIZED', 401),
		],
		[
			'a base URL without https',
			{ baseUrl: 'api.example.com' },
			refused('Base URL', 'must begin with https://'),
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
