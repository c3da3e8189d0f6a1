import { uuid } from '../fixture/fixture';
import { QueueFixture } from '../fixture/queueFixture';
import type { Row } from '../table';

const EXECUTIONS = 4;
const ADDRESSES = 60;

/** Verifies addresses in several executions, which two workers share, on a Starter account. */
export async function workers(): Promise<Row[]> {
	const fixture = new QueueFixture();
	try {
		await fixture.open();
		const { sandbox } = fixture;
		const apiKey = uuid();
		sandbox.reset({
			accounts: { [apiKey]: { plan: 'starter', credits: 1000 } },
			rateLimit: { kind: 'sliding' },
			latencyMs: 100,
		});
		const credential = await fixture.newCredential('Starter', apiKey, { plan: 'starter' });
		const lists = Array.from({ length: EXECUTIONS }, (_, list) =>
			Array.from({ length: ADDRESSES }, (_, at) => `valid.${String(list)}.${String(at)}@acme.com`),
		);
		const executions = await fixture.verify(credential, lists);
		const items = executions.flatMap(({ nodes }) => nodes.LeadGen?.outputs[0] ?? []);
		const { requests } = sandbox;
		const first = Math.min(...requests.map(({ at }) => at));
		const last = Math.max(...requests.map(({ answeredAt = 0 }) => answeredAt));
		const all = EXECUTIONS * ADDRESSES;
		return [
			{
				'Time, s (180 at best)': ((last - first) / 1000).toFixed(1),
				Refused: requests.filter(({ status }) => status === 429).length,
				'Items lost': all - items.filter(({ json }) => json.status === 'valid').length,
				'Paid twice': requests.filter(({ paid }) => paid).length - all,
			},
		];
	} finally {
		await fixture.close();
	}
}
