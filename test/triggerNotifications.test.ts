import type { IDataObject } from 'n8n-workflow';
import { begin, clock, loadCopies, QUIET } from './standIn/begin';
import { idOf, type TriggerNode } from './standIn/node';
import type { World } from './standIn/world';

/** Takes the trigger through notifications and answers that seldom come. */

const MINUTE = 60_000;
const SEEDS = [1, 2, 3, 4, 5, 6];
const TOPOLOGIES = ['single', 'queue', 'multi'] as const;

beforeAll(loadCopies);

/** Worlds in which a node has listened for a while, with several seeds in each topology. */
async function* listening(): AsyncGenerator<World> {
	for (const topology of TOPOLOGIES) {
		for (const seed of SEEDS) {
			const here = begin({ ...QUIET, mode: 'listen', topology, seed });
			await clock.pass(5 * MINUTE);
			yield here;
		}
	}
}

/** Notifications come in at once. @returns the status of each answer */
async function notify(
	here: World,
	...requests: Array<{ body: object; query?: IDataObject }>
): Promise<number[]> {
	const [node] = here.nodes;
	const answers = requests.map(async (request) => {
		const target = here.oneOf(here.topology.receivers);
		if (!target) throw new Error('No process receives');
		return (await node.receive(target, request)).status;
	});
	await clock.pass(MINUTE);
	return await Promise.all(answers);
}

function results({ executions }: TriggerNode): string[] {
	return executions.map((each) => `${idOf(each)} ${String(each.result)}`).sort();
}

/** What the workflow gets of each scrape: its ID, and the body of its notification. */
function outputs({ executions }: TriggerNode): unknown[] {
	const sorted = [...executions].sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
	return sorted.map(({ json }) => [json.scrapeId, (json.notification as IDataObject | null)?.body]);
}

test.each([
	['a list of scrapes', (ids: string[]) => ({ scrapes: ids.map((scrapeId) => ({ scrapeId })) })],
	['a list of IDs', (ids: string[]) => ({ event: 'done', scrapeIds: ids })],
])('All scrapes that one notification names run: %s', async (_what, bodyOf) => {
	for await (const here of listening()) {
		const [node] = here.nodes;
		const ids = Array.from({ length: 7 }, () => here.service.finished(node).id);
		const body = bodyOf(ids);
		expect(await notify(here, { body })).toEqual([200]);
		await clock.pass(60 * MINUTE);
		expect(results(node)).toEqual(ids.map((id) => `${id} passed`));
		expect(outputs(node)).toEqual(ids.map((id) => [id, body]));
	}
});

test.each([
	['the name of a job', (id: string) => ({ id, job: 'nightly' })],
	['the ID of an account', (taskId: string) => ({ taskId, accountId: 'account-1' })],
])('Each of several notifications that share %s keeps its own leads', async (_what, namesOf) => {
	for await (const here of listening()) {
		const [node] = here.nodes;
		// The last ones are larger than the first ones.
		const bodies = [1, 2, 30].map((count) => {
			const { id } = here.service.finished(node);
			return { ...namesOf(id), leads: Array.from({ length: count }, () => ({ of: id })) };
		});
		const requests = bodies.map((body) => ({ body }));
		expect(await notify(here, ...requests)).toEqual([200, 200, 200]);
		await clock.pass(60 * MINUTE);
		expect(results(node)).toEqual(node.scrapes.map(({ id }) => `${id} passed`));
		expect(outputs(node)).toEqual(node.scrapes.map(({ id }, index) => [id, bodies[index]]));
	}
});

test('A form that names the ID in brackets runs the workflow', async () => {
	for await (const here of listening()) {
		const [node] = here.nodes;
		const bodies = ['data[scrapeId]', 'scrape[id]', 'data.scrape_id'].map((name) => ({
			[name]: here.service.finished(node).id,
			'data[status]': 'completed',
		}));
		const requests = bodies.map((body) => ({ body }));
		expect(await notify(here, ...requests)).toEqual([200, 200, 200]);
		await clock.pass(60 * MINUTE);
		expect(results(node)).toEqual(node.scrapes.map(({ id }) => `${id} passed`));
		expect(outputs(node)).toEqual(node.scrapes.map(({ id }, index) => [id, bodies[index]]));
	}
});

test('A late notification runs the workflow though the node listens only since then', async () => {
	for await (const here of listening()) {
		const [node] = here.nodes;
		const ids = [1, 2, 48].map((hours) => here.service.finished(node, hours * 60 * MINUTE).id);
		const requests = ids.map((scrapeId) => ({ body: { scrapeId, status: 'completed' } }));
		expect(await notify(here, ...requests)).toEqual([200, 200, 200]);
		await clock.pass(60 * MINUTE);
		expect(results(node)).toEqual(ids.map((id) => `${id} passed`));
	}
});

test('A start whose answer gets lost after its notification told which scrape it is raises no alarm', async () => {
	for (const seconds of [1, 30, 59]) {
		for (const seed of SEEDS) {
			const here = begin({ ...QUIET, seed, starts: ['lost'] });
			const [node] = here.nodes;
			await clock.pass(MINUTE, () => node.scrapes.length === 1);
			const [scrape] = node.scrapes;
			if (!scrape) throw new Error('No scrape was started');
			await clock.pass(seconds * 1000);
			const { id: scrapeId, query } = scrape;
			expect(await notify(here, { query, body: { scrapeId } })).toEqual([200]);
			await clock.pass(30 * MINUTE);
			expect(results(node)).toEqual([`${scrapeId} passed`]);
			expect(node.sent).toHaveLength(1);
		}
	}
});

test.each([1, 2] as const)(
	'Filters that are changed, and saved again while a slow start is under way, start one further scrape: n8n %i',
	async (version) => {
		let inFlight = 0;
		for (const seed of SEEDS) {
			const here = begin({ ...QUIET, version, seed, starts: ['slow'] });
			const [node] = here.nodes;
			await clock.pass(MINUTE, () => node.sent.length === 1);
			await clock.pass(16_000, () => !node.workflow.isActivating);
			here.events.change(0);
			await clock.pass(1500);
			inFlight += Number(!node.isKnown('scrape-0000'));
			here.events.save(0);
			await clock.pass(30 * MINUTE);
			expect([node.asked, node.sent.length]).toEqual([2, 2]);
			expect(results(node)).toEqual(['scrape-0000 passed', 'scrape-0001 passed']);
			expect(here.wrong).toEqual([]);
		}
		// Otherwise this would prove nothing. In n8n 2 one of the answers comes before.
		expect(inFlight).toBeGreaterThanOrEqual(SEEDS.length - 1);
	},
);

test.each([
	[6, (id: string) => [`${id} passed`, `status of ${id} failed`]],
	[9, (id: string) => [`status of ${id} failed`]],
])(
	'A status that cannot be had for %i days is told once after a day, and the scrape is given up after a week',
	async (days, expected) => {
		const here = begin({ ...QUIET, second: 'otherWorkflow' });
		here.service.isStatusBroken = true;
		const told: number[] = [];
		for (let day = 0; day < days; day++) {
			// In steps, because so much happens in a day.
			for (let hour = 0; hour < 24; hour++) await clock.pass(60 * MINUTE);
			told.push(here.nodes.flatMap(({ executions }) => executions).length);
			// Each start took place a moment after the activation.
			if (day === 0) await clock.pass(10 * MINUTE);
		}
		expect(told).toEqual([0, ...new Array<number>(days - 1).fill(here.nodes.length)]);
		here.service.isStatusBroken = false;
		await clock.pass(60 * MINUTE);
		for (const node of here.nodes) {
			const [{ id } = { id: '' }] = node.scrapes;
			expect(results(node)).toEqual(expected(id));
			expect(node.sent).toHaveLength(1);
		}
	},
);
