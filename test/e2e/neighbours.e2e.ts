import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { API_KEY, node, quiet, until } from '../../lab/fixture/fixture';
import { LONG, serve, useN8n } from './n8n';

/** Address of an n8n that nobody reaches from anywhere: port 9 throws everything away, or is closed. */
const UNREACHABLE = 'http://127.0.0.1:9';

/** Loses its connection once. When n8n has activated the workflow anew, it begins an execution. */
const FRAGILE = `let calls = 0;
exports.Fragile = class {
	description = {
		displayName: 'Fragile', name: 'fragile', group: ['trigger'], version: 1, description: 'Loses its connection',
		defaults: { name: 'Fragile' }, inputs: [], outputs: ['main'], properties: [],
	};
	async trigger() {
		if (++calls === 1) setTimeout(() => this.emitError(new Error('The connection was lost')), 4000);
		else this.emit([[{ json: { calls } }]]);
		return {};
	}
};`;

const folder = mkdtempSync(join(tmpdir(), 'leadgen-fragile-'));
writeFileSync(join(folder, 'Fragile.node.js'), FRAGILE);
const env: Record<string, string> = { N8N_CUSTOM_EXTENSIONS: folder };
const fixture = useN8n(env);
afterAll(() => {
	rmSync(folder, { recursive: true });
});

describe('beside others that write static data', () => {
	it('starts nothing twice and delivers once: a poller, a Code node, and restarts', async () => {
		await fixture.reset({ job: { durationMs: 2000 } });
		/** A feed that has one more entry each time that it is asked. */
		let asked = 0;
		const feed = await serve((_, response) => {
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
				feedUrl: feed,
				pollTimes: { item: [{ mode: 'custom', cronExpression: '15 * * * * *' }] },
			},
		});
		const everyTenSeconds = () =>
			fixture.trigger({ schedule: 'cron', cronExpression: '*/10 * * * * *' });
		const content = fixture.content(everyTenSeconds(), count);
		content.nodes.push(poller);
		content.connections.Feed = { main: [[{ node: 'Count', type: 'main', index: 0 }]] };
		const { id } = await fixture.api.createWorkflow(content);
		const counting = await fixture.create(everyTenSeconds(), count);
		const ids = [id, counting.id];
		for (const each of ids) await fixture.api.activateWorkflow(each);

		for (const starts of [6, 12]) {
			await until('scrapes', () => fixture.starts >= starts);
			await fixture.restart();
		}
		await until('polls', () => asked >= 3, 180_000);
		const delivered = async () =>
			(await Promise.all(ids.map((each) => fixture.scrapesOf(each)))).flat();
		// Meanwhile further ones are due.
		const soFar = fixture.sandbox.jobs.map(({ scrapeId }) => scrapeId);
		await until('the completion of each scrape so far', async () => {
			const ran = await delivered();
			return soFar.every((scrapeId) => ran.includes(scrapeId));
		});
		for (const each of ids) await fixture.api.deactivateWorkflow(each);
		await quiet();

		const scrapes = await delivered();
		expect(new Set(scrapes).size).toBe(scrapes.length);
		expect(fixture.starts).toBe(fixture.sandbox.jobs.length);
		const started = new Set(fixture.sandbox.jobs.map(({ scrapeId }) => scrapeId));
		expect(scrapes.filter((scrapeId) => !started.has(String(scrapeId)))).toEqual([]);
		// n8n's poller saves the static data of the workflow as a whole, so that it and what a Code node
		// counts beside it may go back. Our node hardly ever does that to the Code node: only if n8n saves at
		// the same moment for both.
		const entries = (await fixture.delivered(id, 'Feed')).map(({ json }) => json.title);
		expect(new Set(entries).size).toBeGreaterThanOrEqual(2);
		const runs = (await fixture.delivered(counting.id, 'Count')).map(({ json }) =>
			Number(json.runs),
		);
		expect(Math.max(...runs)).toBeGreaterThan(3);
		expect(Math.max(...runs)).toBeGreaterThanOrEqual(runs.length - 2);
	}, 300_000);
});

describe('beside a trigger that loses its connection', () => {
	it('starts nothing more, and its completion comes in though it used up the credits', async () => {
		await fixture.reset(LONG);
		const content = fixture.content(fixture.trigger(), node('End', 'n8n-nodes-base.noOp'));
		content.nodes.push(node('Fragile', 'CUSTOM.fragile'));
		content.connections.Fragile = { main: [[{ node: 'End', type: 'main', index: 0 }]] };
		const { id } = await fixture.api.createWorkflow(content);
		await fixture.api.activateWorkflow(id);
		await until('the start', () => fixture.starts === 1);
		fixture.sandbox.set({ accounts: { [API_KEY]: { plan: 'pro', credits: 0 } } });
		const reconnected = async () => (await fixture.delivered(id, 'Fragile')).length;
		await until('the new connection', async () => (await reconnected()) === 1);
		const [job] = fixture.sandbox.jobs;
		fixture.sandbox.finish(String(job?.scrapeId), 'completed');
		await until('the completion', async () => (await fixture.delivered(id)).length === 1);
		await quiet();
		expect(await fixture.scrapesOf(id)).toEqual([job?.scrapeId]);
		expect(await fixture.told(id)).toEqual([]);
		expect(fixture.starts).toBe(1);

		fixture.sandbox.set({ accounts: { [API_KEY]: { plan: 'pro', credits: 100 } } });
		await fixture.reactivate(id);
		await until('the start of the next activation', () => fixture.starts === 2);
		await quiet();
		expect(fixture.starts).toBe(2);
	});
});

describe('where n8n cannot reach itself under its public address', () => {
	beforeAll(async () => {
		env.WEBHOOK_URL = `${UNREACHABLE}/`;
		await fixture.restart();
	});

	it('goes by the Internal URL, and brings in what cannot be notified', async () => {
		await fixture.reset({ job: { durationMs: 1000 } });
		const { id } = await fixture.activated({ options: { internalUrl: `${fixture.url}/` } });
		await until('the run', async () => (await fixture.delivered(id)).length === 1);
		const [item] = await fixture.delivered(id);
		expect(item?.json).toMatchObject({ status: 'completed', leadsFound: 10, notification: null });
		expect(fixture.webhookUrl()).toContain(UNREACHABLE);
		await quiet();
		expect([fixture.starts, (await fixture.delivered(id)).length]).toEqual([1, 1]);
	});

	it('says so in a test run, and starts nothing', async () => {
		await fixture.reset();
		const { id } = await fixture.workflow();
		await expect(fixture.api.startWorkflow(id, 'LeadGen Trigger')).rejects.toThrow(
			/n8n cannot reach the webhook URL of this node/,
		);
		expect(fixture.starts).toBe(0);
	});

	it('says so and starts nothing without one, and starts once when it is set', async () => {
		await fixture.reset({ job: { durationMs: 1000 } });
		const { id } = await fixture.activated();
		await until('the word', async () => (await fixture.told(id)).length === 1);
		expect(await fixture.told(id)).toEqual([
			expect.stringContaining('n8n cannot reach the webhook URL of this node'),
		]);
		expect(fixture.starts).toBe(0);

		const workflow = await fixture.api.workflow(id);
		const [trigger] = workflow.nodes;
		if (trigger) trigger.parameters.options = { internalUrl: fixture.url };
		await fixture.api.deactivateWorkflow(id);
		await fixture.api.updateWorkflow(id, workflow);
		await fixture.api.activateWorkflow(id);
		await until('the completion', async () => (await fixture.delivered(id)).length === 1);
		await quiet();
		expect(fixture.starts).toBe(1);
	});
});
