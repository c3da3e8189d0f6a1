import { choicesField, numberField, type Parameters } from '../../../common/parameters';

export const accept = choicesField(
	{
		displayName: 'Accept Results',
		name: 'accept',
		description:
			'Which verification results to accept. The first address with one of these results is returned.',
	},
	[
		{ name: 'Valid', value: 'valid', description: 'The address exists and accepts mail' },
		{
			name: 'Catch-All',
			value: 'catch_all',
			description: 'The domain accepts all mail, so this address cannot be checked',
		},
		{
			name: 'Unknown',
			value: 'unknown',
			description: 'The service could not find out whether the address works',
		},
	],
	['valid'],
);

export const minConfidence = numberField({
	displayName: 'Minimum Confidence',
	name: 'minConfidence',
	typeOptions: { minValue: 0, maxValue: 1, numberPrecision: 2 },
	default: 0,
	description:
		'Rejects addresses below this confidence, from 0 to 1, without paying to verify them. For example, 0.5 rejects addresses with the confidence level low.',
});

export const trustConfidence = numberField({
	displayName: 'Skip Verification From',
	name: 'trustConfidence',
	typeOptions: { minValue: 0, maxValue: 1, numberPrecision: 2 },
	default: 0,
	description:
		'Accepts addresses with this confidence or more, from 0 to 1, without paying to verify them. The service rates addresses with 0.9 or more as verified. 0 verifies every address.',
});

/** The conditions under which an address is good enough. @throws InputError if a value is invalid */
export function readDemands(parameters: Parameters) {
	return {
		accepted: new Set<string>(parameters.get(accept)),
		minConfidence: parameters.option(minConfidence),
		trustConfidence: parameters.option(trustConfidence),
	};
}

export type Demands = ReturnType<typeof readDemands>;
