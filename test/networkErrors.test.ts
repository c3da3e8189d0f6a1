/** What n8n makes of a connection that fails, in all versions of n8n. */
import axios from 'axios';
import { createServer, type AddressInfo } from 'node:net';
import { startSandbox } from '../lab/sandbox/server';
import { ServiceError } from '../nodes/LeadGen/common/errors';
import { mayStartAgain, retryDelayMs } from '../nodes/LeadGen/service/retry';
import { noAnswer } from '../nodes/LeadGen/service/wire';
import type { ServiceRequest } from '../nodes/LeadGen/service/request';
import { requestHelpers, runLeadGen } from './engine';
import { verified } from './expected';
import { VERIFY_ROWS, rowsOf } from './given';

const lookup: ServiceRequest = { kind: 'lookup', path: '/email/verify' };

const server = createServer((socket) => {
	socket.once('data', (data) => {
		const text = data.toString('latin1');
		if (text.startsWith('GET /reset')) socket.resetAndDestroy();
		else if (!text.startsWith('GET')) socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
	});
});
let host: string;

beforeAll(async () => {
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	host = `127.0.0.1:${String((server.address() as AddressInfo).port)}`;
});
afterAll(() => {
	server.close();
});

/** The error of a request, as n8n's helper throws it. */
async function errorOf(url: string): Promise<Error> {
	const { httpRequest } = await requestHelpers({ baseUrl: new URL(url).origin, apiKey: 'key' });
	const timeout = url.endsWith('/silent') ? 100 : 5000;
	const error = await httpRequest({ url, timeout }).catch((thrown: unknown) => thrown);
	if (!(error instanceof Error)) throw new Error('The request did not fail');
	return error;
}

test.each([
	['a port where nothing listens', 'http://127.0.0.1:1/', 'notSent', 'ECONNREFUSED'],
	['a host that does not exist', 'http://no-host.invalid/', 'notSent', 'ENOTFOUND'],
	['a server without TLS', 'https://HOST/', 'notSent', 'EPROTO'],
	['a connection that breaks', 'http://HOST/reset', 'unknown', 'ECONNRESET'],
	['a silent server', 'http://HOST/silent', 'unknown', 'ECONNABORTED'],
])('%s is understood if n8n hides the cause of the error', async (_what, url, outcome, code) => {
	const error = await errorOf(url.replace('HOST', host));
	expect(error.cause).toBeDefined();
	error.cause = undefined;
	expect(noAnswer(error, lookup)).toMatchObject({ outcome, code });
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

test('A call that is late is not sent again', () => {
	const late = new ServiceError('No answer', '', { outcome: 'unknown', code: 'ETIMEDOUT' });
	expect([retryDelayMs(late, lookup, 1), mayStartAgain(late)]).toEqual([undefined, false]);
});

test('A Request Timeout counts also if it is longer than that of n8n for all requests', async () => {
	const sandbox = await startSandbox({ settings: { latencyMs: 500 } });
	const n8nTimeout = axios.defaults.timeout;
	axios.defaults.timeout = 200;
	const [resource, operation] = VERIFY_ROWS.operation;
	const rows = rowsOf(3);
	const { items } = await runLeadGen({
		baseUrl: sandbox.url,
		credential: { apiKey: 'test-key' },
		parameters: {
			resource,
			operation,
			...VERIFY_ROWS.parameters,
			options: { requestTimeout: 600 },
		},
		items: rows,
	});
	axios.defaults.timeout = n8nTimeout;
	await sandbox.close();
	expect(items).toEqual(verified(rows));
});
