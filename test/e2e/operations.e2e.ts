import { N8N, node, quiet, until } from '../../lab/fixture/fixture';
import { resources } from '../../nodes/LeadGen/action/operations';
import { LONG, some, someText, useN8n } from './n8n';

/* Every operation of the action node, in a workflow on a real n8n. What it sends and gives, other tests say. */

const fixture = useN8n();

const ITEMS = [
	{ first: 'Ann', last: 'Sure', company: 'acme.com', email: 'valid.ann@acme.com', title: 'CTO' },
	{ first: 'Cy', last: 'Nobody', company: 'acme.com', email: 'invalid.cy@acme.com', title: 'CEO' },
];
const BAD = { first: 'Bob', last: 'Sure', company: 'no domain' };

/** Begins to run an operation for items. @returns the ID of the execution */
async function start(name: string, parameters: object, items: object[]): Promise<string> {
	const [resource, operation] = name.split('.');
	const jsCode = `return ${JSON.stringify(items.map((json) => ({ json })))};`;
	const { id } = await fixture.create(
		node('Manual', 'n8n-nodes-base.manualTrigger'),
		node('Items', 'n8n-nodes-base.code', { typeVersion: 2, parameters: { jsCode } }),
		fixture.leadGen({ resource, operation, ...parameters }, { onError: 'continueErrorOutput' }),
	);
	return String(await fixture.api.startWorkflow(id, 'Manual'));
}

/** @returns the items of each output */
async function outputsOf(...[name, parameters, items]: Parameters<typeof start>) {
	const { nodes } = await fixture.api.finishedExecution(await start(name, parameters, items));
	return (nodes.LeadGen?.outputs ?? []).map((output) => output.map(({ json }) => json));
}

const person = { firstName: '={{ $json.first }}', lastName: '={{ $json.last }}' };
const of = { ...person, company: '={{ $json.company }}' };
const titles = { filters: { jobTitles: ['={{ $json.title }}'] }, limit: 3 };
const scrape = { scrapeId: '={{ $json.scrapeId }}' };
const nobody = { found: false, email: null };
const address = { found: true, confidenceLevel: 'very_high' };
const completed = { status: 'completed', leadsFound: 3 };

/** With what comes of each of the items. */
const OPERATIONS: Array<[name: string, parameters: object, results: [object, object]]> = [
	['email.findBusiness', of, [address, nobody]],
	['email.findPersonal', person, [address, nobody]],
	['email.verify', { email: '={{ $json.email }}' }, [{ status: 'valid' }, { status: 'invalid' }]],
	['email.enrich', of, [{ ...address, status: 'valid' }, nobody]],
	['credit.get', {}, [{ credits: 994 }, { credits: 994 }]],
	['scrape.start', titles, [{ status: 'pending' }, { estimatedCredits: 3 }]],
	['scrape.getStatus', scrape, [{ scrapeId: someText }, { scrapeId: someText }]],
	['scrape.wait', scrape, [completed, completed]],
	['scrape.startAndWait', titles, [completed, completed]],
];

describe(`n8n ${N8N.version}`, () => {
	it.each(OPERATIONS)('does %s', async (name, parameters, results) => {
		await fixture.reset({ job: { durationMs: 300 } });
		const ids = await fixture.startMany(2, undefined, 3);
		const items = ITEMS.map((item, at) => ({ ...item, scrapeId: ids[at] }));
		const [output = []] = await outputsOf(name, parameters, items);
		expect(output).toEqual(results.map(some));
		const started = fixture.sandbox.jobs.slice(2).map(({ filters }) => filters.jobTitles);
		expect(started).toEqual(parameters === titles ? [['CTO'], ['CEO']] : []);
	});

	it('does each operation above', () => {
		const all = resources.flatMap(({ value, operations }) =>
			operations.map((operation) => `${value}.${operation.value}`),
		);
		expect(OPERATIONS.map(([name]) => name).sort()).toEqual(all.sort());
	});

	it('has an output for addresses, for people without one and for errors', async () => {
		await fixture.reset();
		const parameters = { ...of, options: { splitOutput: true } };
		// n8n remembers what it bought before.
		const others = ITEMS.map((item) => ({ ...item, company: 'beta.com' }));
		expect(await outputsOf('email.enrich', parameters, [...others, BAD])).toEqual([
			[some({ found: true, email: 'ann.sure@beta.com', status: 'valid' })],
			[some(nobody)],
			[some({ ...BAD, error: some({ field: 'Company Domain', outcome: 'notSent' }) })],
		]);
		expect(['findBusinessEmail', 'verifyEmail'].map((name) => fixture.count(name))).toEqual([2, 1]);
	});

	it('ends at once when a person presses Stop while it waits for scrapes', async () => {
		await fixture.reset(LONG);
		const id = await start('scrape.startAndWait', titles, ITEMS);
		await until('the starts', () => fixture.starts === ITEMS.length);
		await fixture.api.stopExecution(id);
		const { status, nodes } = await fixture.api.finishedExecution(id);
		expect([status, nodes.LeadGen?.outputs ?? []]).toEqual(['canceled', []]);
		const before = fixture.sandbox.requests.length;
		await quiet();
		expect(fixture.sandbox.requests).toHaveLength(before);
	});
});
