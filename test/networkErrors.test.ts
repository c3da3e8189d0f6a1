/** What n8n makes of a connection that fails, in all versions of n8n. */
import { createServer, type AddressInfo } from 'node:net';
import { ServiceError } from '../nodes/LeadGen/common/errors';
import { mayStartAgain, retryDelayMs } from '../nodes/LeadGen/service/retry';
import { noAnswer } from '../nodes/LeadGen/service/wire';
import type { ServiceRequest } from '../nodes/LeadGen/service/types';
import { requestHelpers } from './engine';

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

test('A connection that breaks, or a time that is over, after the request was sent, may have been paid for', () => {
	for (const syscall of ['read', 'write']) {
		const error = Object.assign(new Error('unreachable'), { code: 'EHOSTUNREACH', syscall });
		expect(noAnswer(error, lookup).outcome).toBe('unknown');
	}
	const late = new ServiceError('No answer', '', { outcome: 'unknown', code: 'ETIMEDOUT' });
	expect(retryDelayMs(late, lookup, 1, undefined)).toBeUndefined();
	expect(mayStartAgain(late)).toBe(false);
});

test('An answer that is damaged on its way, after the TLS handshake, may have been paid for', () => {
	const code = 'ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC';
	const message = 'SSL routines:tls_get_more_records:decryption failed or bad record mac';
	for (const error of [
		new Error(message, { cause: Object.assign(new Error(message), { code }) }),
		Object.assign(new Error(message), { httpCode: code, messages: [message] }),
	]) {
		expect(noAnswer(error, lookup)).toMatchObject({
			message: 'The connection broke before the service answered',
			details: { outcome: 'unknown', code },
		});
	}
});

test('An error without a code is told without one', () => {
	const { message, advice, details } = noAnswer(new Error('Odd'), lookup);
	expect(message).toBe('The connection broke before the service answered');
	expect(advice).toMatch(/before you run it again\.$/);
	expect(details).toEqual({ outcome: 'unknown' });
});
