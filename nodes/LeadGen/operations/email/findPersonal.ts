import { firstName, lastName, linkedinUrl, location } from './fields';
import { finder } from './finder';

export const findPersonal = finder({
	value: 'findPersonal',
	name: 'Find Personal Email',
	action: 'Find a personal email',
	description: "Find a person's private email address from their name and LinkedIn profile",
	path: '/email/personal',
	fields: [firstName, lastName, linkedinUrl],
	options: [location],
});
