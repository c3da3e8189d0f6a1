'use strict';
Object.defineProperty(exports, '__esModule', { value: true });
exports.verify = void 0;
const errors_1 = require('../../service/errors');
const fields_1 = require('./fields');
exports.verify = {
	value: 'verify',
	name: 'Verify',
	action: 'Verify an email address',
	description:
		'Check whether an email address exists and takes mail. The status is valid, invalid, catch_all or unknown.',
	fields: [fields_1.email],
	async run(parameters, service) {
		const address = parameters.get(fields_1.email);
		if (!address) {
			throw new errors_1.InputError(
				fields_1.email.property.displayName,
				'is empty',
				'Give the address to verify, or filter out the items that have none before this node.',
			);
		}
		return await service.data({ kind: 'lookup', path: '/email/verify', body: { email: address } });
	},
};
