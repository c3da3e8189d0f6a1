import type { IDataObject, NodeExecutionHint } from 'n8n-workflow';
import type { NodeResult } from './engine';
import { useService } from './service';

const service = useService();
const { sandbox } = service;

const FIND = ['email', 'findBusiness'] as const;
const START = ['scrape', 'start'] as const;
const person = { firstName: '={{ $json.first }}', lastName: 'High', company: 'acme.com' };
const people = (count: number) =>
	Array.from({ length: count }, (_, index) => ({ first: `Person${String(index)}` }));
const paidCalls = () => sandbox.requests.filter(({ paid }) => paid).length;

/** The hints of each run of the node. */
function hintsOf({ run }: NodeResult): NodeExecutionHint[][] {
	return (run.data.resultData.runData.LeadGen ?? []).map(({ hints = [] }) => hints);
}

/** The error of each run of the node, if it had one. */
function errorsOf({ run }: NodeResult): unknown[] {
	const tasks = run.data.resultData.runData.LeadGen ?? [];
	const items = tasks.map(({ data }) => (data?.main ?? []).flatMap((each) => each ?? []));
	return items.flat().map(({ json }) => (json.error as IDataObject | undefined)?.message);
}

describe('A loop that gives the items one by one', () => {
	test.each([
		[1, 3],
		[2, 1],
	])('keeps Maximum Spend once for the execution, at %i credits a call', async (cost, calls) => {
		sandbox.set({ cost: { findBusiness: cost } });
		const result = await service.run(FIND, { ...person, options: { spendAtMost: 3 } }, people(12), {
			isInLoop: true,
			onError: 'continueRegularOutput',
		});

		expect(errorsOf(result)).toEqual([
			...new Array<undefined>(calls).fill(undefined),
			...new Array<string>(12 - calls).fill('Not sent: this run reached Maximum Spend (3 credits)'),
		]);
		expect(paidCalls()).toBe(calls);
	});

	test('counts the scrapes that it starts', async () => {
		const result = await service.run(
			START,
			{ limit: 10, options: { spendAtMost: 25 } },
			people(5),
			{ isInLoop: true, onError: 'continueRegularOutput' },
		);
		expect(errorsOf(result).filter((error) => error === undefined)).toHaveLength(2);
		expect(sandbox.jobs).toHaveLength(2);
	});

	test('is like several calls of an AI agent, also at the same time', async () => {
		const options = {
			executionId: 'agent',
			isTool: true,
			onError: 'continueRegularOutput',
		} as const;
		const parameters = { ...person, options: { spendAtMost: 3 } };
		await Promise.all(people(8).map((one) => service.run(FIND, parameters, [one], options)));
		expect(paidCalls()).toBe(3);
	});

	test('begins anew in the next execution', async () => {
		const parameters = { ...person, options: { spendAtMost: 3 } };
		const options = { isInLoop: true, onError: 'continueRegularOutput' } as const;
		await service.run(FIND, parameters, people(6), options);
		await service.run(FIND, parameters, people(9).slice(6), options);
		expect(paidCalls()).toBe(6);
	});

	test('is said to be unnecessary from the second item on', async () => {
		const result = await service.run(FIND, person, people(3), { isInLoop: true });
		const said = hintsOf(result).map((hints) =>
			hints.some(({ message }) => message.includes('needs no Loop Over Items node')),
		);
		expect(said).toEqual([false, true, true]);

		const once = await service.run(FIND, person, people(3));
		expect(hintsOf(once).flat()).toHaveLength(1);
		const starts = await service.run(START, { limit: 1 }, people(2), { isInLoop: true });
		expect(JSON.stringify(hintsOf(starts))).not.toContain('Loop Over Items');
	});
});
