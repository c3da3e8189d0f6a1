import { booleanField, numberField, type Field, type Parameters } from '../common/parameters';
import type { Operation } from './operations/operation';

const requestTimeout = numberField(
	{
		displayName: 'Request Timeout (Seconds)',
		name: 'requestTimeout',
		typeOptions: { minValue: 1 },
		// Long, because the user may have paid for a slow lookup that times out.
		default: 300,
		description:
			'How long to wait for each answer. You may still pay for a request that times out.',
	},
	// The editor requires at least one second, but an expression may return less.
	{ minimum: 0.001 },
);

const parallel = numberField(
	{
		displayName: 'Parallel Requests',
		name: 'parallel',
		typeOptions: { minValue: 0 },
		default: 0,
		description:
			'Max number of requests to send at the same time. With 0, the node starts with 20 and sends as many as the service can handle, up to 1,000.',
	},
	{ whole: true },
);

const rememberMinutes = numberField({
	displayName: 'Remember Results (Minutes)',
	name: 'rememberMinutes',
	typeOptions: { minValue: 0 },
	default: 15,
	description:
		'How long later executions reuse the results of this one for free. 0 reuses results within this execution only.',
});

const keepCredits = numberField({
	displayName: 'Minimum Balance (Credits)',
	name: 'keepCredits',
	typeOptions: { minValue: 0 },
	default: 0,
	description:
		'The node stops before the balance of the account falls below this number of credits, and sends nothing for the remaining items. 0 sets no limit.',
});

const spendAtMost = numberField({
	displayName: 'Maximum Spend (Credits)',
	name: 'spendAtMost',
	typeOptions: { minValue: 0 },
	default: 0,
	description:
		'The node stops before it uses more than this number of credits in an execution, and sends nothing for the remaining items. The runs of a loop count together, but each call of a sub-workflow counts on its own. 0 sets no limit.',
});

const dryRun = booleanField(
	{
		displayName: 'Dry Run',
		name: 'dryRun',
		description:
			'Whether to only show which calls the node would make, and how many of them cost credits. Nothing is sent.',
	},
	// A mistake in the expression must not start a paid run.
	false,
);

/** The options of an operation for how its calls are made. */
export function runOptions({ paid }: Operation): Field[] {
	const common = [parallel, requestTimeout];
	if (!paid) return common;
	const remembering = paid === 'lookup' ? [rememberMinutes] : [];
	return [spendAtMost, keepCredits, dryRun, ...remembering, ...common];
}

/** How the calls of a run are made, according to the options of its first item. */
export function readRunOptions(options: Parameters, { paid }: Operation) {
	return {
		isDryRun: paid !== undefined && options.option(dryRun),
		timeoutMs: options.option(requestTimeout) * 1000,
		parallel: options.option(parallel),
		// Later executions do not reuse a scrape, because each start creates its own.
		rememberMs: paid === 'start' ? 0 : options.option(rememberMinutes) * 60_000,
		minBalance: options.option(keepCredits),
		maxSpend: options.option(spendAtMost),
	};
}
