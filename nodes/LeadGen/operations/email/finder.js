'use strict';
Object.defineProperty(exports, '__esModule', { value: true });
exports.errorIfNotFound = void 0;
exports.finder = finder;
const errors_1 = require('../../service/errors');
const parameters_1 = require('../../parameters');
const confidence_1 = require('./confidence');
exports.errorIfNotFound = (0, parameters_1.booleanField)({
	displayName: 'Error if Not Found',
	name: 'errorIfNotFound',
	default: false,
	description:
		'Whether it is an error if no address is found. Otherwise the result says so, with "found" set to false.',
});
/** An operation that looks for the address of a person (interface 4.4 and 4.6). */
function finder({ path, check, ...operation }) {
	return {
		...operation,
		options: [...operation.options, exports.errorIfNotFound],
		async run(parameters, service) {
			const body = {};
			for (const field of operation.fields) body[field.property.name] = parameters.get(field);
			for (const field of operation.options) body[field.property.name] = parameters.option(field);
			for (const name of Object.keys(body)) if (body[name] === '') delete body[name];
			if (!body.firstName && !body.lastName) {
				throw new errors_1.InputError(
					'First Name and Last Name',
					'are both empty',
					'Give the name of the person to look for.',
				);
			}
			check?.(body);
			const data = await service.call({ kind: 'lookup', path, body }).catch(nothingFound);
			if (data?.email)
				return { found: true, ...data, ...(0, confidence_1.confidenceLevel)(data.confidence) };
			if (parameters.option(exports.errorIfNotFound)) {
				throw new errors_1.LeadGenError(
					'No address was found for this person',
					'Switch off "Error if Not Found" to get this as a result.',
					{ code: 'NOT_FOUND' },
				);
			}
			return { found: false, email: null, ...data };
		},
	};
}
/** Nobody found is an answer, also where the service sends it as the error `NOT_FOUND`. */
function nothingFound(error) {
	if (error instanceof errors_1.ServiceError && error.code === 'NOT_FOUND') return null;
	throw error;
}
