import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A host that must get no request, since the request would hold the key. It answers as the service does. */
export function useOtherHost() {
	let requests = 0;
	const server = createServer((_request, response) => {
		requests += 1;
		response.setHeader('content-type', 'application/json');
		response.end('{"success":true,"data":{"credits":5}}');
	});
	const host = { url: '' };

	beforeAll(async () => {
		await new Promise<void>((resolve) => server.listen(0, resolve));
		host.url = `http://localhost:${String((server.address() as AddressInfo).port)}`;
	});
	afterEach(() => {
		expect(requests).toBe(0);
	});
	afterAll(() => {
		server.close();
	});
	return host;
}
