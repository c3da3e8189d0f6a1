import { linkedinUrl, location } from './fields';
import { finder } from './finder';

export const findPersonal = finder({
	value: 'findPersonal',
	name: 'Find Personal Email',
	action: 'Find personal email',
	description: 'Find the private email address of a person, from the name and the LinkedIn profile',
	path: '/email/personal',
	noun: 'personal lookup',
	fields: [linkedinUrl],
	options: [location],
});
