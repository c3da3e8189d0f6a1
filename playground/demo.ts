import Table from 'cli-table3';
import type { Execution, Item } from './api';
import type { Instance } from './instance';

/** What a run of an example gave: a table to print, and what is wrong with the results. */
export interface Report {
	table: string;
	problems: string[];
}

/** Plain, so that it reads the same in a log. */
const STYLE = { compact: true, head: [], border: [] };

/** Runs the example that finds the business emails of five people and verifies them. */
export async function findAndVerify(instance: Instance, signal: AbortSignal): Promise<Report> {
	const execution = await runExample(instance, 'find-and-verify', signal);
	const people = itemsOf(execution, 'One item per person');
	const found = itemsOf(execution, 'Find business email');
	const verified = itemsOf(execution, 'Verify email');

	const table = new Table({
		head: ['Person', 'Company', 'Business email', 'Confidence', 'Verification', 'Deliverable'],
		style: STYLE,
	});
	const problems = problemsOf(execution);
	if (people.length === 0) problems.push('There are no people.');
	people.forEach(({ json: person }, index) => {
		const name = `${text(person.firstName)} ${text(person.lastName)}`;
		const result = found[index]?.json ?? {};
		const verdict = verified.find(({ json }) => json.email === result.email)?.json ?? {};
		const email = text(result.email);
		table.push([
			name,
			text(person.company),
			result.found === true ? email : 'not found',
			text(result.confidence),
			text(verdict.status),
			text(verdict.deliverable),
		]);

		if (person.lastName === 'Nobody') {
			if (result.found !== false) problems.push(`${name} should not be found.`);
			return;
		}
		const belongs =
			email.includes(text(person.lastName).toLowerCase()) &&
			email.endsWith(`@${text(person.company)}`);
		if (!belongs) problems.push(`The email of ${name} is "${email}".`);
		if (!['valid', 'invalid', 'catch_all', 'unknown'].includes(text(verdict.status))) {
			problems.push(`The address of ${name} was not verified.`);
		}
	});
	const expected = found.filter(({ json }) => json.found === true).length;
	if (found.length !== people.length || verified.length !== expected) {
		problems.push(
			`${String(people.length)} people gave ${String(found.length)} results and ${String(verified.length)} verifications.`,
		);
	}
	return { table: table.toString(), problems };
}

/** Runs the example that starts a scrape and waits for it. */
export async function scrapeAndWait(instance: Instance, signal: AbortSignal): Promise<Report> {
	const execution = await runExample(instance, 'scrape-and-wait', signal);
	const { scrapeId, status, progress, leadsFound, creditsUsed } =
		itemsOf(execution, 'Start scrape and wait')[0]?.json ?? {};
	const table = new Table({
		head: ['Scrape', 'Status', 'Progress', 'Leads found', 'Credits used'],
		style: STYLE,
	});
	table.push([scrapeId, status, progress, leadsFound, creditsUsed].map(text));

	const problems = problemsOf(execution);
	if (status !== 'completed') problems.push(`The scrape is not completed, but ${text(status)}.`);
	if (!(Number(leadsFound) > 0)) problems.push('The scrape found no leads.');
	return { table: table.toString(), problems };
}

async function runExample(
	{ api, examples }: Instance,
	name: string,
	signal: AbortSignal,
): Promise<Execution> {
	const workflow = examples.get(name);
	const trigger = workflow?.nodes.find(({ type }) => type === 'n8n-nodes-base.manualTrigger');
	if (!workflow || !trigger) throw new Error(`examples/${name}.json has no Manual Trigger`);
	return await api.runWorkflow(workflow.id, trigger.name, signal);
}

function itemsOf(execution: Execution, node: string): Item[] {
	return execution.nodes[node]?.outputs[0] ?? [];
}

function problemsOf({ status, error }: Execution): string[] {
	return status === 'success' ? [] : [`The execution ended with ${status}: ${error ?? ''}`];
}

/** A value in a cell; a dash for none. */
function text(value: unknown): string {
	if (value === undefined || value === null) return '-';
	return typeof value === 'string' ? value : JSON.stringify(value);
}
