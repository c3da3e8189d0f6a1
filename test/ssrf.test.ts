/** n8n's protection against requests to internal addresses (SSRF), set so that it allows only the host `localhost`. */
process.env.N8N_SSRF_PROTECTION_ENABLED = 'true';
process.env.N8N_SSRF_ALLOWED_HOSTNAMES = 'localhost';

import { noAnswer } from '../nodes/LeadGen/service/wire';
import { requestHelpers } from './engine';
import { paired } from './expected';
import { keepGoing, type Operation } from './given';
import { useService } from './service';

const service = useService({ plan: 'enterprise' });

const names = ['valid.a@acme.com', 'valid.b@acme.com', 'valid.c@acme.com'];
const items = names.map((address) => ({ address }));
const lookup = { email: '={{ $json.address }}' };
const message = 'n8n does not allow requests to the address of the service';

test.each<[Operation, object]>([
	[['email', 'verify'], lookup],
	[['scrape', 'start'], { filters: { jobTitles: ['CTO'] } }],
])('says that nothing was sent: %j', async (operation, parameters) => {
	const result = await service.run(operation, { ...parameters }, items, keepGoing);
	const advice = expect.stringMatching(
		/^The target 127\.0\.0\.1 is not allowed\..*Nothing was sent\..*N8N_SSRF_ALLOWED_HOSTNAMES.*N8N_SSRF_ALLOWED_IP_RANGES/,
	) as string;
	const error = { message, advice, outcome: 'notSent', paidCalls: 0 };
	expect(result.items).toEqual(paired(items.map((item) => ({ ...item, error }))));

	const given = { retryOnFail: true };
	const { error: shown } = await service.run(operation, { ...parameters }, items, given);
	expect(shown).toMatchObject({ message, description: advice });
	expect(shown?.description).not.toContain('charged');
	expect(service.sandbox.requests).toEqual([]);
});

test('is understood in versions of n8n that hide the cause of an error', async () => {
	const { url } = service.sandbox;
	const { httpRequest } = await requestHelpers({ baseUrl: url, apiKey: 'key' });
	const error: unknown = await httpRequest({ url }).catch((thrown: unknown) => thrown);
	if (!(error instanceof Error)) throw new Error('The request did not fail');
	error.cause = undefined;
	const read = noAnswer(error, { kind: 'start', path: '/start' });
	expect(read).toMatchObject({ message, outcome: 'notSent' });
});

test('lets requests to an allowed host through', async () => {
	const baseUrl = service.sandbox.url.replace('127.0.0.1', 'localhost');
	const result = await service.run(['email', 'verify'], lookup, items, { baseUrl });
	expect(result.items.map(({ json }) => json.email)).toEqual(names);
	expect(service.sandbox.requests).toHaveLength(3);
});
