import { InputError } from '../../../common/errors';
import { company, linkedinUrl } from './fields';
import { finder } from './finder';

export const findBusiness = finder({
	value: 'findBusiness',
	name: 'Find Business Email',
	action: 'Find business email',
	description:
		'Find the work email address of a person, from the name and the company domain or the LinkedIn profile',
	path: '/email/find',
	answer: { sources: ['linkedin', 'company_website'] },
	noun: 'business lookup',
	fields: [company, linkedinUrl],
	check(person) {
		if (!person.company && !person.linkedinUrl) {
			throw new InputError(
				company.property.displayName,
				'is empty',
				'Enter the domain of the company, such as acme.com, or the LinkedIn URL of the person.',
			);
		}
	},
});
