'use strict';
Object.defineProperty(exports, '__esModule', { value: true });
exports.findPersonal = void 0;
const fields_1 = require('./fields');
const finder_1 = require('./finder');
exports.findPersonal = (0, finder_1.finder)({
	value: 'findPersonal',
	name: 'Find Personal Email',
	action: 'Find a personal email',
	description: "Find a person's private email address from their name and LinkedIn profile",
	path: '/email/personal',
	fields: [fields_1.firstName, fields_1.lastName, fields_1.linkedinUrl],
	options: [fields_1.location],
});
