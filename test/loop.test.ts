import type { IDataObject } from 'n8n-workflow';
import { hintsOf, type NodeResult } from './engine';
import { useService } from './service';

const service = useService();
const { sandbox } = service;

const FIND = ['email', 'findBusiness'] as const;
const START = ['scrape', 'start'] as const;
const person = { firstName: '={{ $json.first }}', lastName: 'High', company: 'acme.com' };
const thrifty = { ...person, options: { spendAtMost: 3 } };
const people = (count: number) =>
	Array.from({ length: count }, (_, index) => ({ first: `Person${String(index)}` }));
const paidCalls = () => sandbox.requests.filter(({ paid }) => paid).length;
const inLoop = { isInLoop: true, onError: 'continueRegularOutput' } as const;

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
		const result = await service.run(FIND, thrifty, people(12), inLoop);

		const notSent = 'Not sent: this run reached Maximum Spend (3 credits)';
		expect(errorsOf(result)).toEqual(
			people(12).map((_, index) => (index < calls ? undefined : notSent)),
		);
		expect(paidCalls()).toBe(calls);
	});

	test('counts the scrapes that it starts', async () => {
		const parameters = { limit: 10, options: { spendAtMost: 25 } };
		const result = await service.run(START, parameters, people(5), inLoop);
		expect(errorsOf(result).filter((error) => error === undefined)).toHaveLength(2);
		expect(sandbox.jobs).toHaveLength(2);
	});

	test('is like several calls of an AI agent, also at the same time', async () => {
		const agent = { executionId: 'agent', isTool: true, onError: inLoop.onError };
		await Promise.all(people(8).map((one) => service.run(FIND, thrifty, [one], agent)));
		expect(paidCalls()).toBe(3);
	});

	test('begins anew in the next execution', async () => {
		await service.run(FIND, thrifty, people(6), inLoop);
		await service.run(FIND, thrifty, people(9).slice(6), inLoop);
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
