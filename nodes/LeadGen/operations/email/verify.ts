import type { IDataObject } from 'n8n-workflow';
import { InputError } from '../../service/errors';
import type { Service } from '../../service/service';
import type { Operation } from '../operation';
import { email } from './fields';

export const verify: Operation = {
	value: 'verify',
	name: 'Verify',
	action: 'Verify an email address',
	description:
		'Check whether an email address exists and takes mail. The status is valid, invalid, catch_all or unknown.',
	paid: 'lookup',
	fields: [email],
	split: {
		outputs: ['Valid', 'Risky', 'Invalid'],
		description:
			'Whether to give valid and invalid addresses an output each. The rest, catch-all, unknown and failed, are "Risky".',
		outputOf: (result) =>
			result?.status === 'valid' ? 'Valid' : result?.status === 'invalid' ? 'Invalid' : 'Risky',
	},
	async run(parameters, service) {
		const address = parameters.get(email);
		if (!address) {
			throw new InputError(
				email.property.displayName,
				'is empty',
				'Give the address to verify, or filter out the items that have none before this node.',
			);
		}
		return await verifyAddress(address, service);
	},
};

/** The service's verdict on an address (interface 4.7). */
export async function verifyAddress(address: string, service: Service): Promise<IDataObject> {
	return await service.data({ kind: 'lookup', path: '/email/verify', body: { email: address } });
}
