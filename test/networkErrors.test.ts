/** What n8n makes of a connection that fails, in all versions of n8n. */
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { noAnswer } from '../nodes/LeadGen/service/networkErrors';
import type { ServiceRequest } from '../nodes/LeadGen/service/types';
import { requestHelpers } from './engine';

const lookup: ServiceRequest = { kind: 'lookup', path: '/email/verify' };

const server = createServer((socket) => {
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
async function errorOf(baseUrl: string, path: string): Promise<Error> {
	const { httpRequest } = await requestHelpers({ baseUrl, apiKey: 'key' });
	const error = await httpRequest({ url: baseUrl + path, timeout: 300 }).catch(
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
