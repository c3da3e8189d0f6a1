import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A host that must get no request, since the request would hold the key. It answers as the service does. */
export function useOtherHost() {
	const host = { url: '', requests: 0 };
	const server = createServer((_request, response) => {
		host.requests += 1;
		response.setHeader('content-type', 'application/json');
		response.end('{"success":true,"data":{"credits":5}}');
	});

	beforeAll(async () => {
		await new Promise<void>((resolve) => server.listen(0, resolve));
		host.url = `http://localhost:${String((server.address() as AddressInfo).port)}`;
	});
	afterAll(() => {
		server.close();
	});
	return host;
}
