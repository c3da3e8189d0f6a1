import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Field, node, quiet, until } from './field';

/** Address of an n8n that nobody reaches from anywhere: port 9 throws everything away, or is closed. */
const UNREACHABLE = 'http://127.0.0.1:9';

describe('beside others that write static data', () => {
	const field = new Field();
	/** A feed that has one more entry each time that it is asked. */
	let feed: Server;
	let asked = 0;

	beforeAll(async () => {
		feed = createServer((_, response) => {
			asked++;
			const entries = Array.from({ length: asked }, (_each, entry) => {
				const date = new Date(Date.UTC(2030, 0, 1, 0, entry)).toUTCString();
				return `<item><title>${String(entry)}</title><guid>${String(entry)}</guid><pubDate>${date}</pubDate></item>`;
			});
			response.setHeader('content-type', 'application/rss+xml');
			response.end(
				`<rss version="2.0"><channel><title>Feed</title>${entries.join('')}</channel></rss>`,
			);
		});
		await new Promise<void>((resolve) => feed.listen(0, '127.0.0.1', resolve));
		await field.open();
	});
	afterAll(async () => {
		await field.close();
	});
	afterAll(async () => {
		await new Promise((resolve) => feed.close(resolve));
	});

	it('starts nothing twice and delivers once: a poller, a Code node, and restarts', async () => {
		await field.reset({ job: { durationMs: 2000 } });
		const { port } = feed.address() as AddressInfo;
		const count = node('Count', 'n8n-nodes-base.code', {
			typeVersion: 2,
			parameters: {
				jsCode: `const data = $getWorkflowStaticData('global');
data.runs = (data.runs ?? 0) + 1;
return [{ json: { runs: data.runs } }];`,
			},
		});
		// n8n polls once a minute at most.
		const poller = node('Feed', 'n8n-nodes-base.rssFeedReadTrigger', {
			parameters: {
				feedUrl: `http://127.0.0.1:${String(port)}/`,
				pollTimes: { item: [{ mode: 'custom', cronExpression: '15 * * * * *' }] },
			},
		});
		const everyTenSeconds = () =>
			field.trigger({ schedule: 'cron', cronExpression: '*/10 * * * * *' });
		const content = field.content(everyTenSeconds(), count);
		content.nodes.push(poller);
		content.connections.Feed = { main: [[{ node: 'Count', type: 'main', index: 0 }]] };
		const { id } = await field.api.createWorkflow(content);
		const counting = await field.api.createWorkflow(field.content(everyTenSeconds(), count));
		const ids = [id, counting.id];
		for (const each of ids) await field.api.activateWorkflow(each);

		for (const starts of [6, 12]) {
			await until('scrapes', () => field.starts >= starts);
			await field.restart();
		}
		await until('polls', () => asked >= 3, 180_000);
		const delivered = async () =>
			(await Promise.all(ids.map((each) => field.delivered(each)))).flat().map(({ json }) => json);
		// Meanwhile further ones are due.
		const soFar = field.sandbox.jobs.map(({ scrapeId }) => scrapeId);
		await until('the completion of each scrape so far', async () => {
			const ran = (await delivered()).map(({ scrapeId }) => scrapeId);
			return soFar.every((scrapeId) => ran.includes(scrapeId));
		});
		for (const each of ids) await field.api.deactivateWorkflow(each);
		await quiet();

		const scrapes = (await delivered()).map(({ scrapeId }) => scrapeId);
		expect(new Set(scrapes).size).toBe(scrapes.length);
		expect(field.starts).toBe(field.sandbox.jobs.length);
		const started = new Set(field.sandbox.jobs.map(({ scrapeId }) => scrapeId));
		expect(scrapes.filter((scrapeId) => !started.has(String(scrapeId)))).toEqual([]);
		// n8n's poller saves the static data of the workflow as a whole, so that it and what a Code node
		// counts beside it may go back. Our node hardly ever does that to the Code node: only if n8n saves at
		// the same moment for both.
		const entries = (await field.delivered(id, 'Feed')).map(({ json }) => json.title);
		expect(new Set(entries).size).toBeGreaterThanOrEqual(2);
		const runs = (await field.delivered(counting.id, 'Count')).map(({ json }) => Number(json.runs));
		expect(Math.max(...runs)).toBeGreaterThan(3);
		expect(Math.max(...runs)).toBeGreaterThanOrEqual(runs.length - 2);
	}, 300_000);
});

describe('where n8n cannot reach itself under its public address', () => {
	const field = new Field({ WEBHOOK_URL: `${UNREACHABLE}/` });
	beforeAll(async () => {
		await field.open();
	});
	afterAll(async () => {
		await field.close();
	});

	it('goes by the Internal URL, and brings in what cannot be notified', async () => {
		await field.reset({ job: { durationMs: 1000 } });
		const { id } = await field.workflow({ options: { internalUrl: `${field.url}/` } });
		await field.api.activateWorkflow(id);
		await until('the run', async () => (await field.delivered(id)).length === 1);
		const [item] = await field.delivered(id);
		expect(item?.json).toMatchObject({ status: 'completed', leadsFound: 10, notification: null });
		expect(field.webhookUrl()).toContain(UNREACHABLE);
		await quiet();
		expect([field.starts, (await field.delivered(id)).length]).toEqual([1, 1]);
	});

	it('says so and starts nothing without one, and starts once when it is set', async () => {
		await field.reset({ job: { durationMs: 1000 } });
		const { id } = await field.workflow();
		await field.api.activateWorkflow(id);
		await until('the word', async () => (await field.told(id)).length === 1);
		expect(await field.told(id)).toEqual([
			expect.stringContaining('n8n cannot reach the production URL of this node'),
		]);
		expect(field.starts).toBe(0);

		const workflow = await field.api.workflow(id);
		const [trigger] = workflow.nodes;
		if (trigger) trigger.parameters.options = { internalUrl: field.url };
		await field.api.deactivateWorkflow(id);
		await field.api.updateWorkflow(id, workflow);
		await field.api.activateWorkflow(id);
		await until('the completion', async () => (await field.delivered(id)).length === 1);
		await quiet();
		expect(field.starts).toBe(1);
	});
});
