import type { IHookFunctions, ITriggerFunctions } from 'n8n-workflow';
import { close, open } from '../nodes/LeadGen/trigger/activation';
import { memoryOf } from '../nodes/LeadGen/trigger/nodeMemory';
import { lead } from '../nodes/LeadGen/trigger/trigger';

/** One node of one process, whose hooks never tell its URL, so that no start begins. */
class Activated {
	private static count = 0;
	private readonly id = `n${String(Activated.count++)}`;

	constructor(private readonly isMultiMain = false) {}

	private context(mode: string, staticData: object) {
		const filters = { filtersMode: 'json', filtersJson: '{}', limit: 5 };
		const values: Record<string, unknown> = { mode: 'startScrape', schedule: 'once', ...filters };
		return {
			getActivationMode: () => mode,
			getInstanceId: () => 'i',
			getNode: () => ({ id: this.id }),
			getNodeParameter: (name: string, ifMissing?: unknown) => values[name] ?? ifMissing,
			getTimezone: () => 'UTC',
			getWorkflow: () => ({ id: 'w' }),
			getWorkflowStaticData: () => staticData,
			instanceSettings: { isMultiMain: this.isMultiMain },
		} as unknown as ITriggerFunctions;
	}

	/** n8n activates the node. @returns the start that it wants */
	async activate(mode: string, staticData = {}): Promise<string | undefined> {
		const { closeFunction } = lead(this.context(mode, staticData));
		const { wanted } = memoryOf(this.context(mode, {}));
		await closeFunction?.();
		return wanted;
	}

	/** Whether n8n's hook for the activation asks for the balance: here it has no account, and fails. */
	async asks(mode: string): Promise<boolean> {
		const getCredentials = async () => await Promise.resolve({ apiKey: 'k', baseUrl: 'none' });
		const getNodeWebhookUrl = () => 'http://127.0.0.1:5678/webhook/x/leadgen';
		const context = { ...this.context(mode, {}), getCredentials, getNodeWebhookUrl };
		const result = open(context as unknown as IHookFunctions).then(
			() => false,
			(error: unknown) => /Base URL/.test(String(error)),
		);
		return await result;
	}

	/** The start that is wanted begins. */
	begin(): void {
		delete memoryOf(this.context('', {})).wanted;
	}

	deactivate(): void {
		close(this.context('', {}) as unknown as IHookFunctions);
	}
}

const ATTEMPT = expect.stringMatching(/^a[0-9a-f]{32}$/) as string;

test('an activation by a user wants a start, until it begins', async () => {
	const node = new Activated();
	const first = await node.activate('activate');
	expect(first).toEqual(ATTEMPT);
	// The user saved the workflow before it began.
	node.deactivate();
	expect(await node.activate('update')).toBe(first);
});

test('n8n 1 repeats an activation with old static data when another trigger lost its connection', async () => {
	const node = new Activated();
	await node.activate('activate');
	node.begin();
	expect(await node.activate('activate')).toBeUndefined();
	node.deactivate();
	expect(await node.activate('update')).toBeUndefined();
	node.deactivate();
	expect(await node.activate('activate')).toEqual(ATTEMPT);
});

test('with several main processes, another one may have called `delete`', async () => {
	const node = new Activated(true);
	const first = await node.activate('activate');
	node.begin();
	expect(await node.activate('activate')).toBeUndefined();
	const later = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 60_000);
	expect(await node.activate('activate')).not.toBe(first);
	later.mockRestore();
	expect(await node.activate('leadershipChange')).toBeUndefined();
});

test('only an activation by a user is refused for want of credits', async () => {
	const node = new Activated();
	expect(await node.asks('activate')).toBe(true);
	await node.activate('activate');
	expect(await node.asks('activate')).toBe(false);
	expect(await node.asks('update')).toBe(false);
	node.deactivate();
	expect(await node.asks('activate')).toBe(true);
});
