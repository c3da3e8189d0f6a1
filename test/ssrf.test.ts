/** n8n's protection against requests to internal addresses (SSRF), set so that it allows only the host `localhost`. */
process.env.N8N_SSRF_PROTECTION_ENABLED = 'true';
process.env.N8N_SSRF_ALLOWED_HOSTNAMES = 'localhost';

import { Sandbox } from '../lab/sandbox/server';
import { noAnswer } from '../nodes/LeadGen/service/wire';
import { requestHelpers, runLeadGen } from './engine';
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

const names = ['valid.a@acme.com', 'valid.b@acme.com', 'valid.c@acme.com'];
const items = names.map((address) => ({ address }));
const credential = { apiKey: 'key', plan: 'enterprise' };
const lookup = { resource: 'email', operation: 'verify', email: '={{ $json.address }}' };
const start = { resource: 'scrape', operation: 'start', filters: { jobTitles: ['CTO'] } };
const message = 'n8n does not allow requests to the address of the service';

test.each([lookup, start])('says that nothing was sent: %j', async (parameters) => {
	const given = { baseUrl: sandbox.url, credential, parameters, items };
	const result = await runLeadGen({ ...given, onError: 'continueRegularOutput' });
	const advice = expect.stringMatching(
		/^The target 127\.0\.0\.1 is not allowed\..*Nothing was sent\..*N8N_SSRF_ALLOWED_HOSTNAMES.*N8N_SSRF_ALLOWED_IP_RANGES/,
	) as string;
	const error = { message, advice, outcome: 'notSent', paidCalls: 0 };
	expect(result.items).toEqual(paired(items.map((item) => ({ ...item, error }))));

	const { error: shown } = await runLeadGen({ ...given, retryOnFail: true });
	expect(shown).toMatchObject({ message, description: advice });
	expect(shown?.description).not.toContain('charged');
	expect(sandbox.requests).toEqual([]);
});

test('is understood in versions of n8n that hide the cause of an error', async () => {
	const { httpRequest } = await requestHelpers({ baseUrl: sandbox.url, apiKey: 'key' });
	const error: unknown = await httpRequest({ url: sandbox.url }).catch((thrown: unknown) => thrown);
	if (!(error instanceof Error)) throw new Error('The request did not fail');
	error.cause = undefined;
	const read = noAnswer(error, { kind: 'start', path: '/start' });
	expect(read).toMatchObject({ message, outcome: 'notSent' });
});

test('lets requests to an allowed host through', async () => {
	const baseUrl = sandbox.url.replace('127.0.0.1', 'localhost');
	const result = await runLeadGen({ baseUrl, credential, parameters: lookup, items });
	expect(result.items.map(({ json }) => json.email)).toEqual(names);
	expect(sandbox.requests).toHaveLength(3);
});
