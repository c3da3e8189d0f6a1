/** n8n's protection against requests to internal addresses (SSRF), set so that it allows only the host `localhost`. */
process.env.N8N_SSRF_PROTECTION_ENABLED = 'true';
process.env.N8N_SSRF_ALLOWED_HOSTNAMES = 'localhost';

import type { INodeParameters } from 'n8n-workflow';
import { Sandbox } from '../lab/sandbox/server';
import { noAnswer } from '../nodes/LeadGen/service/wire';
import { requestHelpers, runLeadGen, type NodeRun } from './engine';
import { paired } from './expected';

const sandbox = new Sandbox({});
beforeAll(async () => {
	await sandbox.listen();
});
beforeEach(() => {
	sandbox.reset({ accounts: { key: { plan: 'enterprise', credits: 100 } } });
});
afterAll(async () => {
	await sandbox.close();
});

const rows = ['valid.a@acme.com', 'valid.b@acme.com', 'valid.c@acme.com'].map((address) => ({
	address,
}));
const lookup = { resource: 'email', operation: 'verify', email: '={{ $json.address }}' };
const start = { resource: 'scrape', operation: 'start', filters: { jobTitles: ['CTO'] } };

async function run(baseUrl: string, parameters: INodeParameters, options: Partial<NodeRun> = {}) {
	const credential = { apiKey: 'key', plan: 'enterprise' };
	return await runLeadGen({ baseUrl, credential, parameters, items: rows, ...options });
}

const blocked = {
	message: 'n8n does not allow requests to the address of the service',
	advice: expect.stringMatching(
		/^The target 127\.0\.0\.1 is not allowed\..*Nothing was sent\..*N8N_SSRF_ALLOWED_HOSTNAMES.*N8N_SSRF_ALLOWED_IP_RANGES/,
	) as unknown,
	outcome: 'notSent',
	paidCalls: 0,
};

test.each([lookup, start])(
	'says that nothing was sent of what it blocked: %j',
	async (parameters) => {
		const { items } = await run(sandbox.url, parameters, { onError: 'continueRegularOutput' });
		expect(items).toEqual(paired(rows.map((row) => ({ ...row, error: blocked }))));

		const { error } = await run(sandbox.url, parameters, { retryOnFail: true });
		expect(error).toMatchObject({ message: blocked.message, description: blocked.advice });
		expect(error?.description).not.toContain('charged');
		expect(sandbox.requests).toEqual([]);
	},
);

test('is understood in versions of n8n that hide the cause of an error', async () => {
	const { httpRequest } = await requestHelpers({ baseUrl: sandbox.url, apiKey: 'key' });
	const error: unknown = await httpRequest({ url: sandbox.url }).catch((thrown: unknown) => thrown);
	if (!(error instanceof Error)) throw new Error('The request did not fail');
	error.cause = undefined;
	expect(noAnswer(error, { kind: 'start', path: '/start' })).toMatchObject({
		message: blocked.message,
		outcome: 'notSent',
	});
});

test('lets requests to an allowed host through', async () => {
	const { items } = await run(sandbox.url.replace('127.0.0.1', 'localhost'), lookup);
	expect(items.map(({ json }) => [json.email, json.status])).toEqual(
		rows.map(({ address }) => [address, 'valid']),
	);
	expect(sandbox.requests).toHaveLength(3);
});
