import { booleanField, numberField, type Field, type Parameters } from './parameters';
import type { Operation } from './operations/operation';
import type { RunSettings } from './service/service';

export const requestTimeout = numberField(
	{
		displayName: 'Request Timeout (Seconds)',
		name: 'requestTimeout',
		typeOptions: { minValue: 1 },
		// Long, because a slow lookup that is given up on may have been paid for.
		default: 300,
		description:
			'How long to wait for each answer. An answer that comes later is lost, though it may have been paid for.',
	},
	// The editor asks for a second at least; an expression may give less.
	{ minimum: 0.001 },
);

const parallel = numberField(
	{
		displayName: 'Parallel Requests',
		name: 'parallel',
		typeOptions: { minValue: 0 },
		default: 0,
		description:
			'How many requests may be under way at once. 0 takes as many as the rate limit allows in a minute.',
	},
	{ minimum: 0, whole: true },
);

const rememberMinutes = numberField(
	{
		displayName: 'Remember Results (Minutes)',
		name: 'rememberMinutes',
		typeOptions: { minValue: 0 },
		default: 15,
		description:
			'How long the results that an execution paid for serve later ones that ask for the same. 0 uses them in this execution only.',
	},
	{ minimum: 0 },
);

const keepCredits = numberField(
	{
		displayName: 'Keep at Least (Credits)',
		name: 'keepCredits',
		typeOptions: { minValue: 0 },
		default: 0,
		description:
			'Stop before the balance of the account falls below this. Items that are left are not attempted.',
	},
	{ minimum: 0 },
);

const spendAtMost = numberField(
	{
		displayName: 'Spend at Most (Credits)',
		name: 'spendAtMost',
		typeOptions: { minValue: 0 },
		default: 0,
		description:
			'Stop before this run has used more credits. Items that are left are not attempted. 0 sets no limit.',
	},
	{ minimum: 0 },
);

export const dryRun = booleanField({
	displayName: 'Dry Run',
	name: 'dryRun',
	default: false,
	description:
		'Whether to send nothing, and only say which calls would be made and how many of them would be paid for',
});

/** The options that an operation offers for how its calls are made. */
export function runOptions({ paid }: Operation): Field[] {
	const common = [requestTimeout, parallel];
	if (!paid) return common;
	return [
		...common,
		keepCredits,
		spendAtMost,
		dryRun,
		...(paid === 'lookup' ? [rememberMinutes] : []),
	];
}

/** How the calls of a run are made, from the options of its first item. */
export function readRunSettings(options: Parameters, { paid }: Operation): RunSettings {
	const floor = options.option(keepCredits);
	const most = options.option(spendAtMost);
	return {
		parallel: options.option(parallel),
		// A scrape is not remembered by later executions: each start is one of its own.
		rememberMs: paid === 'start' ? 0 : options.option(rememberMinutes) * 60_000,
		dryRun: options.option(dryRun),
		...((floor > 0 || most > 0) && {
			budget: { ...(floor > 0 && { floor }), ...(most > 0 && { most }) },
		}),
	};
}
