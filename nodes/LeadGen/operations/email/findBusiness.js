'use strict';
Object.defineProperty(exports, '__esModule', { value: true });
exports.findBusiness = void 0;
const errors_1 = require('../../service/errors');
const fields_1 = require('./fields');
const finder_1 = require('./finder');
exports.findBusiness = (0, finder_1.finder)({
	value: 'findBusiness',
	name: 'Find Business Email',
	action: 'Find a business email',
	description: "Find a person's work email address from their name and the company's domain",
	path: '/email/find',
	fields: [fields_1.firstName, fields_1.lastName, fields_1.company],
	options: [fields_1.linkedinUrl],
	check(person) {
		if (!person.company && !person.linkedinUrl) {
			throw new errors_1.InputError(
				fields_1.company.property.displayName,
				'is empty',
				'Give the domain of the company, such as acme.com, or the LinkedIn URL of the person.',
			);
		}
	},
});
