import { choicesField, numberField } from '../../../common/parameters';

export const accept = choicesField(
	{
		displayName: 'Accepted Statuses',
		name: 'accept',
		description: 'Which verification statuses make an address good enough',
	},
	[
		{ name: 'Valid', value: 'valid', description: 'The address exists and accepts mail' },
		{
			name: 'Catch-All',
			value: 'catch_all',
			description: 'The domain accepts all mail, so nobody can check the address',
		},
		{ name: 'Unknown', value: 'unknown', description: 'The service could not check the address' },
	],
	['valid'],
);

export const minConfidence = numberField({
	displayName: 'Minimum Confidence',
	name: 'minConfidence',
	typeOptions: { minValue: 0, maxValue: 1, numberPrecision: 2 },
	default: 0,
	description: 'From 0 to 1. An address below this confidence is rejected without a verification.',
});
