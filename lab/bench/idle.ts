import { setTimeout as sleep } from 'node:timers/promises';
import { Fixture, node } from '../fixture/fixture';
import type { Row } from '../table';
import { processUse } from './processUse';

const EACH = 20;
const SETTLE_MS = 30_000;
const MEASURED_MS = 60_000;

/** What n8n takes of one core while triggers wait, each kind of them in a fresh n8n. */
export async function idle(): Promise<Row[]> {
	return [
		await measure('no workflow', 0),
		await measure(`${String(EACH)} LeadGen Triggers that listen`, EACH, { mode: 'listen' }),
		await measure(`${String(EACH)} LeadGen Triggers, each with a running scrape`, EACH),
	];
}

async function measure(about: string, count: number, parameters = {}): Promise<Row> {
	const fixture = new Fixture();
	try {
		await fixture.open();
		await fixture.reset({ job: { durationMs: 86_400_000 } });
		for (let at = 0; at < count; at++) {
			await fixture.activate(fixture.trigger(parameters), node('End', 'n8n-nodes-base.noOp'));
		}
		await sleep(SETTLE_MS);
		const requestsBefore = fixture.sandbox.requests.length;
		const { cpuMs } = processUse(fixture.pid);
		await sleep(MEASURED_MS);
		const share = (processUse(fixture.pid).cpuMs - cpuMs) / MEASURED_MS;
		return {
			Triggers: about,
			'One core': `${(100 * share).toFixed(1)} %`,
			'Status requests': fixture.sandbox.requests.length - requestsBefore,
		};
	} finally {
		await fixture.close();
	}
}
