import { node, quiet, until, use, uuid } from '../fixture/fixture';
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
		const path = uuid();
		const { sandbox } = fixture;
		sandbox.reset({
			accounts: { [path]: { plan: 'starter', credits: 1000 } },
			rateLimit: { kind: 'sliding' },
			latencyMs: 100,
		});
		const credential = await fixture.newCredential('Starter', path, { plan: 'starter' });
		const verify = { resource: 'email', operation: 'verify', email: '={{ $json.address }}' };
		const { id } = await fixture.activate(
			node('Webhook', 'n8n-nodes-base.webhook', {
				typeVersion: 2,
				webhookId: path,
				parameters: { httpMethod: 'POST', path },
			}),
			node('One item per address', 'n8n-nodes-base.splitOut', {
				parameters: {
					fieldToSplitOut: 'body.emails',
					options: { destinationFieldName: 'address' },
				},
			}),
			fixture.leadGen(verify, { credentials: use(credential) }),
		);
		await quiet(1000);
		for (let batch = 0; batch < EXECUTIONS; batch++) {
			const emails = Array.from({ length: ADDRESSES }, (_, at) => {
				return `valid.${String(batch)}.${String(at)}@acme.com`;
			});
			await fetch(`${fixture.webhookBase}/webhook/${path}`, {
				method: 'POST',
				headers: { 'content-type': 'application/json' },
				body: JSON.stringify({ emails }),
			});
		}
		const begun = async () => (await fixture.executions(id)).length === EXECUTIONS;
		await until('the executions', begun);
		let results = 0;
		for (const execution of await fixture.executions(id)) {
			const items = (await fixture.finished(execution.id))?.nodes.LeadGen?.outputs[0] ?? [];
			results += items.filter(({ json }) => json.status === 'valid').length;
		}
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
