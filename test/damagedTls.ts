import { createServer } from 'node:https';
import { connect, createServer as createProxy, type AddressInfo, type Server } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';

/** For 127.0.0.1, and for tests only. */
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgvRV/lYdBxyyI+xQ5
7S+YMNbDPRs73DslmOMpWmmGdE2hRANCAAT3DDjQeM9rT+Zw0bUUvKty+Zfk0jjP
dA7sAEQ8D6VUm1i1k4VMCFG6vf7+5oeK+pBp4aMj18JB4c30uV0BxRWh
-----END PRIVATE KEY-----`;
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBjzCCATagAwIBAgIUF3xEFCSglRdKJE3wPJ/n3PRwq6cwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJMTI3LjAuMC4xMCAXDTI2MTEyMTE5MTUyM1oYDzIxMjYxMDI4
MTkxNTIzWjAUMRIwEAYDVQQDDAkxMjcuMC4wLjEwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAT3DDjQeM9rT+Zw0bUUvKty+Zfk0jjPdA7sAEQ8D6VUm1i1k4VMCFG6
vf7+5oeK+pBp4aMj18JB4c30uV0BxRWho2QwYjAdBgNVHQ4EFgQUzZNn2kvIrSf7
efS96ED6L7F7l9kwHwYDVR0jBBgwFoAUzZNn2kvIrSf7efS96ED6L7F7l9kwDwYD
VR0TAQH/BAUwAwEB/zAPBgNVHREECDAGhwR/AAABMAoGCCqGSM49BAMCA0cAMEQC
ICe1lCfdWIMkNOoWRbErduXnTiT6hDcEbMc/g9M8tGNHAiA606eZeRIqJB4QQYRb
IjSRdW5VhZSsh52E0GQim260Mg==
-----END CERTIFICATE-----`;

/** Serves `answer` over TLS, and damages it on the way, as a broken middlebox does. */
export async function startDamagedTls(answer: string) {
	setDefaultCACertificates([...getCACertificates(), CERTIFICATE]);
	/** Requests. */
	let served = 0;
	const server = createServer({ key: KEY, cert: CERTIFICATE }, (request, response) => {
		request.resume().on('end', () => {
			served++;
			response.end(answer);
		});
	});
	const port = await listening(server);
	const proxy = createProxy((client) => {
		const upstream = connect(port, '127.0.0.1');
		const drop = () => {
			client.destroy();
			upstream.destroy();
		};
		client.on('error', drop).on('close', drop).pipe(upstream);
		upstream.on('error', drop).on('data', (chunk: Buffer) => {
			// Behind the header of the first record.
			if (served > 0) chunk[8] = (chunk[8] ?? 0) ^ 1;
			client.write(chunk);
		});
	});
	const url = `https://127.0.0.1:${String(await listening(proxy))}`;
	const close = () => {
		proxy.close();
		server.close();
	};
	return { url, served: () => served, close };
}

async function listening(server: Server): Promise<number> {
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	return (server.address() as AddressInfo).port;
}
