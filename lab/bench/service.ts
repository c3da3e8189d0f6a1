import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../playground/n8n';
import { ROOT } from '../playground/versions';
import { ProcessGroup } from '../playground/processes';
import type { RequestRecord } from '../sandbox/requestLog';
import type { Account, SettingsPatch } from '../sandbox/settings';

const START_TIMEOUT_MS = 20_000;

/** What the service saw of a run. */
export interface Traffic {
	requests: number;
	refused: number;
	/** Calls that were made although the credits had ended. */
	vain: number;
	credits: number;
	/** From the first arrival to the last answer. */
	ms: number;
	/** The most requests that were in flight at once. */
	peak: number;
}

/** The sandbox of the service in a process of its own, so that it takes no time from n8n's. */
export class SandboxProcess {
	private constructor(
		readonly url: string,
		private readonly group: ProcessGroup,
	) {}

	static async start(): Promise<SandboxProcess> {
		const port = String(await freePort());
		const args = ['--import', 'tsx', join(ROOT, 'lab/sandbox/main.ts'), '--port', port];
		const group = new ProcessGroup(process.execPath, args, { cwd: ROOT, stdio: 'ignore' });
		const sandbox = new SandboxProcess(`http://127.0.0.1:${port}`, group);
		const deadline = Date.now() + START_TIMEOUT_MS;
		while (!(await sandbox.control('state').catch(() => undefined))) {
			if (!group.isRunning || Date.now() > deadline) {
				await group.kill();
				throw new Error('The sandbox does not start; try: npm run sandbox');
			}
			await sleep(100);
		}
		return sandbox;
	}

	/** Forgets everything; afterwards there is one account with this key. */
	async reset(apiKey: string, account: Account, settings: SettingsPatch): Promise<void> {
		const accounts = { [apiKey]: account };
		await this.control('reset', { ...settings, accounts });
	}

	async traffic(): Promise<Traffic> {
		const requests = (await this.control('requests')) as RequestRecord[];
		const wrong = requests.find(({ violation }) => violation !== undefined);
		if (wrong) throw new Error(`A request departs from the interface: ${String(wrong.violation)}`);
		const first = requests[0]?.at ?? 0;
		const last = requests.reduce((ms, { answeredAt = 0 }) => Math.max(ms, answeredAt), first);
		const count = (code: string) => requests.filter(({ outcome }) => outcome === code).length;
		return {
			requests: requests.length,
			refused: count('RATE_LIMIT_EXCEEDED'),
			vain: count('INSUFFICIENT_CREDITS'),
			credits: requests.reduce((sum, { cost }) => sum + cost, 0),
			ms: last - first,
			peak: peakOf(requests),
		};
	}

	async stop(): Promise<void> {
		await this.group.stop();
	}

	private async control(what: string, body?: unknown): Promise<unknown> {
		const response = await fetch(
			`${this.url}/_sandbox/${what}`,
			body === undefined
				? {}
				: {
						method: 'POST',
						headers: { 'content-type': 'application/json' },
						body: JSON.stringify(body),
					},
		);
		if (!response.ok) throw new Error(`${what}: ${await response.text()}`);
		return await response.json();
	}
}

function peakOf(requests: RequestRecord[]): number {
	const changes = requests.flatMap(({ at, answeredAt = Infinity }) => [
		{ at, by: 1 },
		{ at: answeredAt, by: -1 },
	]);
	changes.sort((a, b) => a.at - b.at || a.by - b.by);
	let [now, peak] = [0, 0];
	for (const { by } of changes) {
		now += by;
		peak = Math.max(peak, now);
	}
	return peak;
}
