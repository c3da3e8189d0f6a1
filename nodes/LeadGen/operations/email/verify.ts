import { InputError } from '../../service/errors';
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
	async run(parameters, service) {
		const address = parameters.get(email);
		if (!address) {
			throw new InputError(
				email.property.displayName,
				'is empty',
				'Give the address to verify, or filter out the items that have none before this node.',
			);
		}
		return await service.data({ kind: 'lookup', path: '/email/verify', body: { email: address } });
	},
};
