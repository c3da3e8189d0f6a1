import { setTimeout as sleep } from 'node:timers/promises';
import { Fixture, uuid, use } from '../fixture/fixture';
import { errorAnswer, jsonAnswer, type Answer } from '../sandbox/answers';
import { SimulatedService, type Said } from '../simulator/service';
import type { Scenario } from '../simulator/simulate';
import type { Row } from '../table';
import { runWorkflow } from './workflow';

/** A run that only ends after ten minutes is watched for so long. */
const MOST_MS = 120_000;

/**
 * Runs scenarios in front of a real n8n that verifies addresses, those that one n8n can have: the sandbox accepts
 * connections. SERVICES is a pattern that chooses some by their names.
 */
export async function onN8n(scenarios: Scenario[]): Promise<Row[]> {
	const fixture = new Fixture({ EXECUTIONS_DATA_SAVE_ON_SUCCESS: 'none' });
	const chosen = new RegExp(process.env.SERVICES ?? '');
	const rows: Row[] = [];
	try {
		await fixture.open();
		for (const scenario of scenarios) {
			const { about, processes = 1, cpuMs } = scenario;
			const isReal = !about.startsWith('unreachable') && processes === 1 && !cpuMs;
			if (isReal && chosen.test(about)) rows.push(await measure(fixture, scenario));
		}
	} finally {
		await fixture.close();
	}
	return rows;
}

const clock = {
	now: () => performance.now(),
	sleep: async (ms: number) => {
		await sleep(ms, undefined, { ref: false });
	},
	random: Math.random,
};

async function measure(fixture: Fixture, scenario: Scenario): Promise<Row> {
	const { sandbox } = fixture;
	const { about, calls, perMinute } = scenario;
	const name = uuid();
	const service = new SimulatedService(clock, { wayMs: 0, ...scenario });
	sandbox.reset();
	sandbox.respond = async ({ headers }, response) => {
		// A run of an earlier scenario may go on. This ends it.
		if (headers.authorization !== `Bearer ${name}`) return errorAnswer('UNAUTHORIZED', 'Over');
		const said = await service.call();
		if (said.outcome !== 'broken') return answerOf(said);
		response.socket?.resetAndDestroy();
		return undefined;
	};
	const fields = { plan: 'enterprise', requestsPerMinute: perMinute ?? 0 };
	const verify = fixture.leadGen(
		{ resource: 'email', operation: 'verify', email: '={{ $json.email }}' },
		{
			credentials: use(await fixture.newCredential(name, name, fields)),
			onError: 'continueRegularOutput',
		},
	);
	const rows = { count: calls, json: "{ email: 'p' + index + '@acme.example' }" };
	const signal = AbortSignal.timeout(MOST_MS);
	const status = await runWorkflow(fixture, rows, verify, signal).catch((error: unknown) => {
		if (!signal.aborted) throw error;
	});
	const ends = sandbox.requests.map(({ at }) => at);
	return {
		'The service': about,
		Calls: calls,
		'Time, s': status ? ((Math.max(...ends) - Math.min(...ends)) / 1000).toFixed(1) : 'longer',
		Answered: service.taken,
		Unclear: service.failed,
		'Not sent': calls - service.taken - service.failed,
		Refused: service.refused,
	};
}

function answerOf({ outcome, retryAfterMs }: Said): Answer {
	if (outcome === 'accepted') {
		return jsonAnswer(200, { success: true, data: { status: 'valid', deliverable: true } });
	}
	if (outcome !== 'refused') return { status: 502, headers: {}, body: 'Bad Gateway' };
	const refusal = errorAnswer('RATE_LIMIT_EXCEEDED', 'Too many requests');
	if (retryAfterMs === undefined) return refusal;
	const retryAfter = String(Math.ceil(retryAfterMs / 1000));
	return { ...refusal, headers: { ...refusal.headers, 'retry-after': retryAfter } };
}
