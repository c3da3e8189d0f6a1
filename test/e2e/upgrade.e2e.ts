import { join } from 'node:path';
import type { StoredWorkflow } from '../../playground/api';
import { Field, quiet, until } from './field';

/** A running n8n is updated from an earlier release of the package, with scrapes under way. */
const field = new Field();
beforeAll(async () => {
	await field.open(join(__dirname, '../releases/1.0.0/package.tgz'));
});
afterAll(async () => {
	await field.close();
});

async function activated(parameters: Record<string, unknown> = {}): Promise<StoredWorkflow> {
	const workflow = await field.workflow(parameters);
	await field.api.activateWorkflow(workflow.id);
	return workflow;
}

async function scrapesOf({ id }: StoredWorkflow): Promise<unknown[]> {
	return (await field.delivered(id)).map(({ json }) => json.scrapeId);
}

it('takes over what 1.0.0 started, heard and delivered', async () => {
	await field.reset({ job: { durationMs: 600_000 } });
	const { sandbox } = field;
	const starters: StoredWorkflow[] = [];
	for (let count = 1; count <= 4; count++) {
		starters.push(await activated());
		await until('its start', () => sandbox.jobs.length === count);
	}
	const listener = await activated({ mode: 'listen' });
	await until('the URL', async () => {
		const { status } = await fetch(field.plainUrl(listener), { method: 'POST' });
		return status === 200;
	});
	const ids = sandbox.jobs.map(({ scrapeId }) => scrapeId);
	const [delivered = '', notified = '', missed = '', whileDown = ''] = ids;
	const [first] = starters;
	if (!first) throw new Error('No workflow');
	sandbox.finish(delivered, 'completed');
	await until('its delivery', async () => (await scrapesOf(first)).length === 1);
	const heard = await field.startElsewhere(field.plainUrl(listener));
	sandbox.finish(heard, 'completed');
	await until('another delivery', async () => (await scrapesOf(listener)).length === 1);
	// 1.0.0 writes down what it delivered a moment later.
	await quiet();

	await field.stop();
	sandbox.finish(whileDown, 'completed');
	await field.upgrade();
	await quiet();
	sandbox.finish(notified, 'completed');
	sandbox.set({ notification: { times: 0 } });
	sandbox.finish(missed, 'completed');
	for (const [index, workflow] of starters.entries()) {
		await until(
			`the delivery of ${String(index)}`,
			async () => (await scrapesOf(workflow)).length > 0,
			120_000,
		);
	}
	await quiet(5000);
	for (const [index, workflow] of starters.entries()) {
		expect(await scrapesOf(workflow)).toEqual([ids[index]]);
		expect(await field.told(workflow.id)).toEqual([]);
	}
	expect(await scrapesOf(listener)).toEqual([heard]);
	expect(field.starts).toBe(5);

	sandbox.set({ notification: { times: 1 } });
	const next = await field.startElsewhere(field.plainUrl(listener));
	sandbox.finish(next, 'completed');
	await until('the next one', async () => (await scrapesOf(listener)).length === 2);
	expect(await scrapesOf(listener)).toEqual([heard, next]);
}, 300_000);
