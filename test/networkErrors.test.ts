/** What n8n makes of a connection that fails, in all versions of n8n. */
import axios from 'axios';
import { Sandbox } from '../lab/sandbox/server';
import { ServiceError } from '../nodes/LeadGen/common/errors';
import { mayStartAgain, retryDelayMs } from '../nodes/LeadGen/service/retry';
import { noAnswer } from '../nodes/LeadGen/service/wire';
import type { ServiceRequest } from '../nodes/LeadGen/service/request';
import { requestHelpers, runLeadGen } from './engine';
import { verified } from './expected';
import { VERIFY_ROWS, rowsOf } from './given';

const lookup: ServiceRequest = { kind: 'lookup', path: '/email/verify' };
const sandbox = new Sandbox({});

beforeAll(() => sandbox.listen());
afterAll(() => sandbox.close());

test.each([
	['a port where nothing listens', 'http://127.0.0.1:1', undefined, 'notSent', 'ECONNREFUSED'],
	['a host that does not exist', 'http://no-host.invalid', undefined, 'notSent', 'ENOTFOUND'],
	['a server without TLS', 'https://HOST', undefined, 'notSent', 'EPROTO'],
	['a connection that breaks', 'http://HOST', 'resetBeforeWork', 'unknown', 'ECONNRESET'],
	['a silent server', 'http://HOST', 'hang', 'unknown', 'ECONNABORTED'],
] as const)('%s is understood if n8n hides the cause of its error', async (...given) => {
	const [, address, kind, outcome, code] = given;
	sandbox.reset(kind && { faults: [{ kind }] });
	const baseUrl = address.replace('HOST', new URL(sandbox.url).host);
	const { httpRequest } = await requestHelpers({ baseUrl, apiKey: 'test-key' });
	const timeout = kind === 'hang' ? 100 : 5000;
	const request = httpRequest({ url: `${baseUrl}/credits`, timeout });
	const error: unknown = await request.catch((thrown: unknown) => thrown);
	expect(error).toMatchObject({ cause: expect.any(Error) as Error });
	const hidden = Object.assign(error as Error, { cause: undefined });
	expect(noAnswer(hidden, lookup)).toMatchObject({ outcome, code });
});

const record = 'ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC';
const text = 'SSL routines:tls_get_more_records:decryption failed or bad record mac';
test.each<[string, object, string | undefined]>([
	['reads', { code: 'EHOSTUNREACH', syscall: 'read' }, 'EHOSTUNREACH'],
	['writes', { code: 'EHOSTUNREACH', syscall: 'write' }, 'EHOSTUNREACH'],
	['gets a damaged answer', { cause: Object.assign(new Error(text), { code: record }) }, record],
	['gets a damaged answer, as n8n tells it', { httpCode: record, messages: [text] }, record],
	['fails without a code', {}, undefined],
])('A call that %s may have been paid for', (_what, fields, code) => {
	const { message, advice, details } = noAnswer(Object.assign(new Error(text), fields), lookup);
	expect(message).toBe('The connection broke before the service answered');
	expect(advice).toMatch(code ? / The error code is \w+\.$/ : /before you run it again\.$/);
	expect(details).toEqual({ outcome: 'unknown', ...(code && { code }) });
});

test.each<[fields: object, code: string, again: [delayMs: number | undefined, start: boolean]]>([
	[{ syscall: 'connect' }, 'ETIMEDOUT', [0, true]],
	[{ syscall: 'getaddrinfo' }, 'EAI_AGAIN', [0, true]],
	[{}, 'DEPTH_ZERO_SELF_SIGNED_CERT', [undefined, false]],
])('A call that fails with %j and %s was not sent', (fields, code, again) => {
	const error = noAnswer(Object.assign(new Error(text), fields, { code }), lookup);
	expect(error.details).toEqual({ outcome: 'notSent', code });
	expect([retryDelayMs(error, lookup, 1), mayStartAgain(error)]).toEqual(again);
});

test('A call that is late is not sent again', () => {
	const late = new ServiceError('No answer', '', { outcome: 'unknown', code: 'ETIMEDOUT' });
	expect([retryDelayMs(late, lookup, 1), mayStartAgain(late)]).toEqual([undefined, false]);
});

test('A Request Timeout counts also if it is longer than that of n8n for all requests', async () => {
	sandbox.reset({ latencyMs: 500 });
	const n8nTimeout = axios.defaults.timeout;
	axios.defaults.timeout = 200;
	const [resource, operation] = VERIFY_ROWS.operation;
	const options = { requestTimeout: 600 };
	const { items } = await runLeadGen({
		baseUrl: sandbox.url,
		credential: { apiKey: 'test-key' },
		parameters: { resource, operation, ...VERIFY_ROWS.parameters, options },
		items: rowsOf(3),
	});
	axios.defaults.timeout = n8nTimeout;
	expect(items).toEqual(verified(rowsOf(3)));
});
