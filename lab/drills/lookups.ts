import { setTimeout as sleep } from 'node:timers/promises';
import type { StoredWorkflow } from '../playground/api';
import type { SettingsPatch } from '../sandbox/settings';
import { type Fixture, node } from '../fixture/fixture';
import type { Outcome } from './tally';

const ITEMS = 200;
let runs = 0;

/** A workflow that verifies addresses which no other drill asks for. */
async function verifying(fixture: Fixture): Promise<StoredWorkflow> {
	const items = `Array.from({ length: ${String(ITEMS)} }, (_, i) => ({ json: { email: \`valid.\${i}@drill${String(++runs)}.example\` } }))`;
	const jsCode = `return ${items};`;
	return await fixture.create(
		node('Manual', 'n8n-nodes-base.manualTrigger'),
		node('Rows', 'n8n-nodes-base.code', { typeVersion: 2, parameters: { jsCode } }),
		fixture.leadGen(
			{ resource: 'email', operation: 'verify', email: '={{ $json.email }}' },
			{ onError: 'continueRegularOutput' },
		),
	);
}

/** How often each address was asked for such that the service may have taken it. */
function takenTwice(fixture: Fixture): number {
	const times = new Map<string, number>();
	for (const { body, paid } of fixture.sandbox.requests) {
		const { email } = (body ?? {}) as { email?: string };
		if (email !== undefined && paid) times.set(email, (times.get(email) ?? 0) + 1);
	}
	return [...times.values()].filter((count) => count > 1).length;
}

/** Runs the lookups while the service misbehaves for a while. */
function drill(
	name: string,
	promise: string,
	settings: SettingsPatch,
	disturb: (fixture: Fixture) => Promise<void> = async () => {},
): (fixture: Fixture) => Promise<Outcome> {
	return async (fixture) => {
		await fixture.reset({ latencyMs: 50, ...settings });
		const { id } = await verifying(fixture);
		const before = fixture.sandbox.credits('test-key');
		const [execution] = await Promise.all([
			fixture.api.runWorkflow(id, 'Manual'),
			disturb(fixture),
		]);
		const items = execution.nodes.LeadGen?.outputs[0] ?? [];
		const failed = items.filter(({ json }) => json.error !== undefined);
		const unknown = failed.filter(
			({ json }) => (json.error as { outcome?: string }).outcome === 'unknown',
		);
		const told =
			failed.length > 0
				? `, of which ${String(unknown.length)} say that the call may have been paid for`
				: '';
		const credits = before - fixture.sandbox.credits('test-key');
		return {
			drill: name,
			promise,
			happened: `${String(ITEMS)} rows: ${String(items.length - failed.length)} results, ${String(failed.length)} errors${told}; ${String(credits)} credits.`,
			lost: ITEMS - items.length,
			doubled: 0,
			paidTwice: takenTwice(fixture),
		};
	};
}

/** A power cut in the middle of a run, which a person then runs again. */
async function cutAndRunAgain(fixture: Fixture): Promise<Outcome> {
	await fixture.reset({ latencyMs: 400 });
	const { id } = await verifying(fixture);
	await fixture.api.startWorkflow(id, 'Manual');
	await sleep(1500);
	await fixture.kill();
	const gone = fixture.sandbox.requests.filter(({ paid }) => paid).length;
	const twice = takenTwice(fixture);
	await fixture.start();
	await sleep(5000);
	const unasked = fixture.sandbox.requests.filter(({ paid }) => paid).length - gone;
	const items = (await fixture.api.runWorkflow(id, 'Manual')).nodes.LeadGen?.outputs[0] ?? [];
	return {
		drill: 'Power cut in the middle of a run, which a person then runs again',
		promise:
			'Nothing is sent by itself after the restart. What the run had bought is lost with n8n.',
		happened: `${String(gone)} lookups were bought before the cut, and lost with n8n; none was sent until the person ran it again, which gave ${String(items.length)} results.`,
		lost: ITEMS - items.length,
		doubled: 0,
		paidTwice: twice + unasked,
	};
}

const answersLater = { match: { operation: 'verifyEmail' as const, every: 5 } };

export const lookupDrills: Array<(fixture: Fixture) => Promise<Outcome>> = [
	drill(
		'The service cuts every connection',
		'Every row has a result or an error, and nothing is paid for twice',
		{ faults: [{ kind: 'resetBeforeWork', match: { operation: 'verifyEmail' } }] },
	),
	drill(
		'Every fifth answer is lost after the service did the work',
		'These rows say that they may have been paid for; they are not sent again',
		{ faults: [{ kind: 'resetAfterWork', ...answersLater }] },
	),
	drill('Every fifth answer is an error page of a proxy (502)', 'The same', {
		faults: [{ kind: 'html', status: 502, afterWork: true, ...answersLater }],
	}),
	drill('Every fifth answer is broken JSON', 'The same', {
		faults: [{ kind: 'brokenJson', afterWork: true, ...answersLater }],
	}),
	drill('Every fifth answer takes 30 seconds', 'Every row has its result', {
		faults: [{ kind: 'slowBody', delayMs: 30_000, ...answersLater }],
	}),
	drill(
		'The service accepts 60 requests in 15 seconds, and does not say so',
		'Every row has its result',
		{ rateLimit: { enabled: true, perMinute: 60, windowMs: 15_000, headers: 'none' } },
	),
	drill(
		'The service goes down for a minute in the middle of a run',
		'Every row has its result, or an error that says that the call may have been paid for; none is sent twice',
		{ latencyMs: 1000 },
		async ({ sandbox }) => {
			while (sandbox.requests.length < 100) await sleep(10);
			await sandbox.goDown();
			await sleep(60_000);
			await sandbox.comeBack();
		},
	),
	cutAndRunAgain,
];
