/** What n8n makes of a connection that fails, in all versions of n8n. */
import { request } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { noAnswer } from '../nodes/LeadGen/service/networkErrors';
import type { ServiceRequest } from '../nodes/LeadGen/service/types';
import { requestHelpers } from './engine';

const lookup: ServiceRequest = { kind: 'lookup', path: '/email/verify' };

let connections = 0;
const server = createServer((socket) => {
	connections += 1;
	socket.once('data', (data) => {
		if (data.toString('latin1').startsWith('GET /reset')) socket.resetAndDestroy();
		else if (!data.toString('latin1').startsWith('GET'))
			socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
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
async function errorOf(baseUrl: string, path: string, options: object = {}): Promise<Error> {
	const { httpRequest } = await requestHelpers({ baseUrl, apiKey: 'key' });
	const error = await httpRequest({ url: baseUrl + path, timeout: 300, ...options }).catch(
		(thrown: unknown) => thrown,
	);
	if (!(error instanceof Error)) throw new Error('The request did not fail');
	return error;
}

const cases = [
	['a port where nothing listens', 'http://127.0.0.1:1', '/', 'notSent', 'ECONNREFUSED'],
	['a host that does not exist', 'http://no-host.invalid', '/', 'notSent', 'ENOTFOUND'],
	['a server without TLS', 'https://', '/', 'notSent', 'EPROTO'],
	['a connection that breaks', 'http://', '/reset', 'unknown', 'ECONNRESET'],
	['a silent server', 'http://', '/silent', 'unknown', 'ECONNABORTED'],
] as const;

describe.each(cases)('%s', (_name, url, path, outcome, code) => {
	test.each([true, false])(
		'is understood if the error of n8n has a cause: %s',
		async (hasCause) => {
			const error = await errorOf(url.endsWith('//') ? url + host : url, path);
			expect(error.cause).toBeDefined();
			if (!hasCause) error.cause = undefined;

			expect(noAnswer(error, lookup)).toMatchObject({ outcome, code });
		},
	);
});

describe('A request that Node.js refuses to send', () => {
	const refused: Array<[string, string, object]> = [
		['ERR_INVALID_HTTP_TOKEN', '/', { headers: { 'no name': 'a' } }],
		['ERR_INVALID_HTTP_TOKEN', '/', { method: 'NO METHOD' }],
	];

	test.each(refused)('was not sent: %s', async (code, path, options) => {
		connections = 0;
		const error = await errorOf(`http://${host}`, path, options);
		expect(connections).toBe(0);
		expect(noAnswer(error, lookup)).toMatchObject({
			message: 'n8n cannot send this request',
			advice: expect.stringMatching(/Nothing was sent\.$/) as string,
			outcome: 'notSent',
			code,
		});
	});

	/** Newer versions of n8n do not let these through, so Node.js itself throws them here. */
	const thrown: Array<[string, () => unknown]> = [
		['ERR_INVALID_URL', () => new URL('http://')],
		['ERR_INVALID_CHAR', () => request({ headers: { Authorization: 'Bearer é密' } })],
		['ERR_HTTP_INVALID_HEADER_VALUE', () => request({ headers: { a: undefined } })],
		['ERR_UNESCAPED_CHARACTERS', () => request({ path: '/a b' })],
		['ERR_INVALID_PROTOCOL', () => request({ protocol: 'ftp:' })],
		['ERR_SOCKET_BAD_PORT', () => request({ port: 70_000 })],
	];

	test.each(thrown)('was not sent: %s', (code, send) => {
		let cause: unknown;
		try {
			send();
		} catch (error) {
			cause = error;
		}
		const error = new Error('That went wrong', { cause });
		expect(noAnswer(error, lookup)).toMatchObject({ outcome: 'notSent', code });
	});
});

test('An error without a code is told without one', () => {
	const { message, advice, details } = noAnswer(new Error('Odd'), lookup);
	expect(message).toBe('The connection broke before the service answered');
	expect(advice).toMatch(/before you run it again\.$/);
	expect(details).toEqual({ outcome: 'unknown' });
});
