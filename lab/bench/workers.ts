import { uuid } from '../fixture/fixture';
import { QueueFixture } from '../fixture/queueFixture';
import { count, Part, seconds, times } from './part';

const EXECUTIONS = 4;
const ADDRESSES = 60;
const BOUND_MS = 180_000;

interface Shared {
	ms: number;
	refused: number;
	lost: number;
	paidTwice: number;
}

/** Verifies addresses in several executions, which two workers on one account share. */
async function measureWorkers(): Promise<Shared[]> {
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
		const results = items.filter(({ json }) => json.status === 'valid').length;
		const first = Math.min(...sandbox.requests.map(({ at }) => at));
		const last = Math.max(...sandbox.requests.map(({ answeredAt = 0 }) => answeredAt));
		const all = EXECUTIONS * ADDRESSES;
		return [
			{
				ms: last - first,
				refused: sandbox.requests.filter(({ status }) => status === 429).length,
				lost: all - results,
				paidTwice: sandbox.requests.filter(({ paid }) => paid).length - all,
			},
		];
	} finally {
		await fixture.close();
	}
}

export const workers = new Part<Shared>({
	title: 'Two workers on one account',
	about: `Queue mode on PostgreSQL. Two workers verify ${String(EXECUTIONS * ADDRESSES)} addresses in ${String(EXECUTIONS)} executions, on a Starter account (60 requests in any 60 seconds).`,
	head: ['Plan', 'Time', '÷ 180 s', 'Refused', 'Items lost', 'Paid twice'],
	measure: measureWorkers,
	cellsOf: ({ ms, refused, lost, paidTwice }) => [
		'Starter',
		seconds(ms),
		times(ms / BOUND_MS),
		...[refused, lost, paidTwice].map(count),
	],
});
