import {
	booleanField,
	notForTools,
	numberField,
	type Field,
	type Parameters,
} from '../common/parameters';
import type { Operation } from './operations/operation';

const requestTimeout = numberField({
	displayName: 'Request Timeout (Seconds)',
	name: 'requestTimeout',
	typeOptions: { minValue: 0.1 },
	// Long, because the user may have paid for a slow lookup that times out.
	default: 300,
	description: 'How long to wait for each answer. You may still pay for a request that times out.',
});

const parallel = numberField({
	displayName: 'Parallel Requests',
	name: 'parallel',
	typeOptions: { minValue: 0 },
	default: 0,
	description:
		'Max number of requests at the same time. 0 sends as many as the service can handle.',
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
	{ whole: true, ifMissing: Infinity },
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

/** The options of an operation for how its calls are made. */
export function runOptions({ paid }: Operation): Field[] {
	if (!paid) return [];
	const remembering = paid === 'lookup' ? [rememberMinutes] : [];
	return [maxPaidCalls, dryRun, ...remembering, parallel, requestTimeout];
}

/** How the calls of a run are made, according to the options of its first item. */
export function readRunOptions(options: Parameters, { paid }: Operation) {
	return {
		isDryRun: paid !== undefined && options.option(dryRun),
		timeoutMs: paid ? options.option(requestTimeout) * 1000 : FREE_TIMEOUT_MS,
		parallel: options.option(parallel),
		// Later executions do not reuse a scrape, because each start creates its own.
		rememberMs: paid === 'start' ? 0 : options.option(rememberMinutes) * 60_000,
		maxPaidCalls: paid ? options.option(maxPaidCalls) : Infinity,
	};
}
