import type { Execution, Item } from './api';

/**
 * Runs an example from its Manual Trigger on, wherever that is.
 * @param name of its file, without `.json`
 */
export type RunExample = (name: string, signal: AbortSignal) => Promise<Execution>;

/** What a run of an example gave: the rows of a table, and what is wrong with the results. */
export interface Report {
	rows: object[];
	problems: string[];
}

/** Runs the example that finds and verifies the emails of five people. */
export async function findAndVerify(run: RunExample, signal: AbortSignal): Promise<Report> {
	const execution = await run('find-and-verify', signal);
	const people = itemsOf(execution, 'One item per person');
	const good = itemsOf(execution, 'Find and verify email');
	const notGood = itemsOf(execution, 'Find and verify email', 1);

	const rows: object[] = [];
	const problems = problemsOf(execution);
	if (people.length === 0) problems.push('There are no people.');
	if (good.length + notGood.length !== people.length) {
		problems.push(
			`${String(people.length)} people gave ${String(good.length + notGood.length)} items.`,
		);
	}
	for (const { json: person } of people) {
		const name = `${text(person.firstName)} ${text(person.lastName)}`;
		const isOf = ({ json }: Item) => json.lastName === person.lastName;
		const result = good.find(isOf)?.json;
		const {
			email = 'nothing good enough',
			emailType = '',
			confidence = '',
			status = '',
		} = result ?? {};
		rows.push({ name, company: person.company, email, emailType, confidence, status });

		const isNobody = person.lastName === 'Nobody';
		if (isNobody !== notGood.some(isOf)) problems.push(`The result for ${name} is wrong.`);
		if (!result) continue;
		if (!text(result.email).includes(text(person.lastName).toLowerCase())) {
			problems.push(`The email of ${name} is "${text(result.email)}".`);
		}
		if (!['valid', 'catch_all'].includes(text(result.status))) {
			problems.push(`The address of ${name} is ${text(result.status)}.`);
		}
	}
	return { rows, problems };
}

/** Runs the example that starts a scrape and waits for it. */
export async function scrapeAndWait(run: RunExample, signal: AbortSignal): Promise<Report> {
	const execution = await run('scrape-and-wait', signal);
	const { scrapeId, status, progress, leadsFound, creditsUsed } =
		itemsOf(execution, 'Start scrape and wait')[0]?.json ?? {};
	const problems = problemsOf(execution);
	if (status !== 'completed') problems.push(`The scrape is not completed, but ${text(status)}.`);
	if (!(Number(leadsFound) > 0)) problems.push('The scrape found no leads.');
	return { rows: [{ scrapeId, status, progress, leadsFound, creditsUsed }], problems };
}

function itemsOf(execution: Execution, node: string, output = 0): Item[] {
	return execution.nodes[node]?.outputs[output] ?? [];
}

function problemsOf({ status, error }: Execution): string[] {
	return status === 'success' ? [] : [`The execution ended with ${status}: ${error ?? ''}`];
}

function text(value: unknown = ''): string {
	return typeof value === 'string' ? value : JSON.stringify(value);
}
