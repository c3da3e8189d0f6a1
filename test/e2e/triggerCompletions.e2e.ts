import type { StoredWorkflow } from '../../lab/playground/api';
import type { SettingsPatch } from '../../lab/sandbox/settings';
import { linkTo, node, quiet, until } from '../../lab/fixture/fixture';
import { post, some } from './n8n';
import { expectRuns, fixture } from './triggerFixture';

/* What only a running n8n shows of completions: how it reads requests, and that one runs the workflow once. */

describe('a completion', () => {
	const NOTIFICATIONS: Array<NonNullable<SettingsPatch['notification']>> = [
		...(['flat', 'form', 'query', 'text', 'empty', 'broken'] as const).map((shape) => ({ shape })),
		{ method: 'PUT' },
		{ method: 'PUT', shape: 'empty' },
		{ method: 'GET' },
	];

	it('comes in once with each shape and method of its notification', async () => {
		const workflows: StoredWorkflow[] = [];
		for (const notification of NOTIFICATIONS) {
			fixture.sandbox.set({ notification: { method: 'POST', shape: 'flat', ...notification } });
			const workflow = await fixture.activated();
			workflows.push(workflow);
			await until('the notification', () => {
				if (fixture.startsOf(workflow) === 0) return false;
				return fixture.jobOf(workflow).notifications[0]?.status !== undefined;
			});
		}
		// A poll leaves the notification the precedence.
		for (const { id } of workflows) await fixture.untilRuns(id, 1);
		await quiet(5000);
		const runs = await Promise.all(workflows.map(({ id }) => fixture.delivered(id)));
		expect(runs.map((items) => items.map(({ json }) => json.notification))).toEqual(
			NOTIFICATIONS.map(({ method = 'POST', shape }) => [
				// n8n itself turns broken JSON away.
				shape === 'broken' ? null : some({ method }),
			]),
		);
		expect(fixture.starts).toBe(NOTIFICATIONS.length);
	});

	it('comes in once beside a Code node that writes old static data back', async () => {
		const jsCode =
			"const data = $getWorkflowStaticData('global'); data.count = (data.count ?? 0) + 1; await new Promise((resolve) => setTimeout(resolve, 1500)); return [{ json: { ...data } }];";
		const code = node('Code', 'n8n-nodes-base.code', { typeVersion: 2, parameters: { jsCode } });
		const content = fixture.content(fixture.trigger(), code);
		const every = node('Every second', 'n8n-nodes-base.scheduleTrigger', {
			typeVersion: 1.2,
			parameters: { rule: { interval: [{ field: 'seconds', secondsInterval: 1 }] } },
		});
		content.nodes.push(every);
		content.connections['Every second'] = linkTo('Code');
		const { id } = await fixture.api.createWorkflow(content);
		for (let round = 1; round <= 4; round++) {
			await fixture.api.activateWorkflow(id);
			await fixture.untilStarts(round);
			await fixture.untilRuns(id, round);
			await fixture.api.deactivateWorkflow(id);
		}
		expect(fixture.starts).toBe(4);
		expect(await fixture.delivered(id)).toHaveLength(4);
	});
});

describe('a node that only listens', () => {
	it('reads JSON of any content type', async () => {
		const workflow = await fixture.listening();
		const ids = await fixture.startMany(3);
		const types = ['application/vnd.api+json', 'application/octet-stream', 'text/plain'];
		for (const [at, type] of types.entries()) {
			const body = JSON.stringify({ data: { scrapeId: ids[at] } });
			expect(await post(fixture.plainUrl(workflow), body, type)).toBe(200);
		}
		await expectRuns(workflow.id, 3);
		expect((await fixture.scrapesOf(workflow.id)).sort()).toEqual(ids.sort());
	});
});
