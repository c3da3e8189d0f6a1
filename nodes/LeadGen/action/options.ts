import {
	booleanField,
	notForTools,
	numberField,
	textField,
	type Field,
	type Parameters,
} from '../common/parameters';
import type { Operation } from './operations/operation';

const includeInput = booleanField({
	displayName: 'Include Other Input Fields',
	name: 'includeInput',
	displayOptions: notForTools,
	description:
		'Whether to pass on the fields of the incoming item too. A field of the result replaces one of the same name.',
});

const resultField = textField({
	displayName: 'Put Output in Field',
	name: 'resultField',
	displayOptions: notForTools,
	placeholder: 'e.g. leadgen',
	description: 'The name of a field for the whole result, which avoids name clashes',
});

const splitOutput = booleanField({
	displayName: 'Split Output',
	name: 'splitOutput',
	noDataExpression: true,
	displayOptions: notForTools,
	description:
		'Whether to use one output for each outcome: Found and Not Found, or Valid, Invalid and Risky (catch-all, unknown, failed)',
});

const requestTimeout = numberField({
	displayName: 'Request Timeout (Seconds)',
	name: 'requestTimeout',
	typeOptions: { minValue: 0.1 },
	// Long, because the user may have paid for a slow lookup that times out.
	default: 300,
	description: 'How long to wait for each answer. You may still pay for a request that times out.',
});

const rememberMinutes = numberField({
	displayName: 'Remember Results (Minutes)',
	name: 'rememberMinutes',
	typeOptions: { minValue: 0 },
	default: 15,
	description: 'How long later executions reuse the results for free',
});

const maxPaidCalls = numberField(
	{
		displayName: 'Maximum Paid Calls',
		name: 'maxPaidCalls',
		typeOptions: { minValue: 1 },
		// Empty, so that nobody takes a number that they did not choose for a limit of theirs.
		default: '',
		placeholder: 'e.g. 100',
		description: 'Max number of paid calls in an execution, with all runs of a loop',
	},
	{ whole: true },
);

const dryRun = booleanField(
	{
		displayName: 'Dry Run',
		name: 'dryRun',
		displayOptions: notForTools,
		description: 'Whether to show which calls the node would make, without making them',
	},
	// A mistake in the expression must not start a paid run.
	false,
);

/** Shorter, because a call that costs nothing is sent again. */
const FREE_TIMEOUT_MS = 60_000;

/** The options of an operation in groups, in the order of the editor: the output, its own, the calls. */
export const OPTION_GROUPS: ReadonlyArray<(operation: Operation) => readonly Field[]> = [
	({ split }) => [includeInput, resultField, ...(split ? [splitOutput] : [])],
	({ options = [] }) => options,
	({ paid }) => {
		if (!paid) return [];
		const remembering = paid === 'lookup' ? [rememberMinutes] : [];
		return [maxPaidCalls, dryRun, ...remembering, requestTimeout];
	},
];

/** What the options of the first item say for all items of a run. @throws InputError if one is invalid */
export function readOptions(parameters: Parameters, { paid, split }: Operation) {
	return {
		includesInput: parameters.option(includeInput),
		resultField: parameters.option(resultField),
		isSplit: split !== undefined && parameters.option(splitOutput),
		isDryRun: paid !== undefined && parameters.option(dryRun),
		timeoutMs: paid ? parameters.option(requestTimeout) * 1000 : FREE_TIMEOUT_MS,
		// Later executions do not reuse a scrape, because each start creates its own.
		rememberMs: paid === 'lookup' ? parameters.option(rememberMinutes) * 60_000 : 0,
		maxPaidCalls: paid ? parameters.option(maxPaidCalls, Infinity) : Infinity,
	};
}

export type RunOptions = ReturnType<typeof readOptions>;
