import { InputError } from '../../../common/errors';
import {
	choiceField,
	textField,
	unlessNone,
	type Field,
	type Parameters,
} from '../../../common/parameters';
import { toAddress, toDomain, toUrl } from '../../../common/addresses';
import { namesOf, plainName, splitName } from '../../../common/names';
import { SlipError, toWords } from '../../../common/values';

/*
 * One name, and a company or a profile, may identify a person. So none of these fields is `required`: n8n would not
 * publish a workflow in which one is empty. Each operation checks the fields that it needs.
 */
const nameFormat = choiceField(
	{
		displayName: 'Name',
		name: 'nameFormat',
		noDataExpression: false,
		description: 'Which fields hold the name. An expression returns firstAndLast or full.',
	},
	[
		{ name: 'First and Last Name', value: 'firstAndLast' },
		{ name: 'Full Name', value: 'full' },
	],
	'firstAndLast',
);

function nameField(
	format: 'firstAndLast' | 'full',
	property: { displayName: string; name: string; placeholder: string; description: string },
	clean?: (text: string, displayName: string) => string,
): Field<string> {
	return textField({ ...property, displayOptions: { show: { nameFormat: [format] } } }, clean);
}

/** What is a name if the other name is there: Indian initials, and surnames. */
const [INITIALS, SURNAME] = [/^[NK]\. ?[AN]\.?$/, /^(Hidden|Locked)$/];
const plainUnless = (isName: RegExp) => (text: string, displayName: string) =>
	isName.test(text) ? text : plainName(text, displayName);

export const firstName = nameField(
	'firstAndLast',
	{
		displayName: 'First Name',
		name: 'firstName',
		placeholder: 'e.g. Nathan',
		description:
			'The node leaves out titles. Can be empty: the service decides whether a last name is enough.',
	},
	plainUnless(INITIALS),
);

export const lastName = nameField(
	'firstAndLast',
	{
		displayName: 'Last Name',
		name: 'lastName',
		placeholder: 'e.g. Smith',
		description:
			'The node leaves out degrees. Can be empty: the service decides whether a first name is enough.',
	},
	plainUnless(SURNAME),
);

const fullName = nameField('full', {
	displayName: 'Full Name',
	name: 'fullName',
	placeholder: 'e.g. Nathan Smith',
	description: 'Also as "Smith, Nathan". The node leaves out titles and degrees.',
});

/** The fields for the name of a person, in the order of the editor. */
export const nameFields: ReadonlyArray<Field<string>> = [nameFormat, firstName, lastName, fullName];

const wordsIn = (name: string) => name.split(' ').filter((word) => word);

/** The names of a person, without titles and degrees. @throws InputError if both are empty */
function readName(parameters: Parameters): { firstName: string; lastName: string } {
	const isFull = parameters.get(nameFormat) === 'full';
	if (isFull) {
		const full = parameters.get(fullName);
		if (full) return splitName(full, fullName.property.displayName);
	} else {
		const first = parameters.get(firstName);
		const last = parameters.get(lastName);
		if (!last && first) plainName(first, firstName.property.displayName);
		if (!first && last) plainName(last, lastName.property.displayName);
		// Some exports write the whole name in one of the fields, or in both.
		const isWhole = (!last || last === first) && /\s\p{Lu}/u.test(first);
		if (isWhole) return splitName(first, firstName.property.displayName);
		const given = first.endsWith(` ${last}`) ? first.slice(0, -last.length) : first;
		const family = last.startsWith(`${first} `) ? last.slice(first.length) : last;
		const names = namesOf(wordsIn(given), wordsIn(family));
		// Others write a title where the first name belongs.
		if (first && last && !names.firstName)
			return splitName(`${first} ${last}`, lastName.property.displayName);
		if (first || last) return names;
	}
	throw new InputError(
		isFull ? 'Full Name' : 'First Name and Last Name',
		isFull ? 'is empty' : 'are both empty',
		'Enter the name of the person. Under Name, choose whether it is in one field or in two.',
	);
}

/**
 * The name and other values of a person. One that is refused is left out with a warning if the others are enough.
 * @param needsOne whether, if a value is refused, one of the others must be there: a name alone may find somebody else
 * @throws InputError if they are not enough, and for slips of expressions
 */
export function readPerson(
	parameters: Parameters,
	fields: ReadonlyArray<Field<string>>,
	needsOne: boolean,
): Record<string, string> {
	const person: Record<string, string> = readName(parameters);
	const failures: Array<{ displayName: string; error: unknown }> = [];
	for (const field of fields) {
		const { name, displayName } = field.property;
		try {
			person[name] = parameters.get(field);
		} catch (error) {
			failures.push({ displayName, error });
		}
	}
	const isEnough = !needsOne || fields.some(({ property }) => person[property.name]);
	for (const { displayName, error } of failures) {
		const isRefused = error instanceof InputError && !(error instanceof SlipError);
		if (!isEnough || !isRefused) throw error;
		// The same text for all items, so that it is said once.
		parameters.warn(
			`Where ${displayName} is not valid, the node searches without it. Dry Run shows each request.`,
		);
	}
	return person;
}

export const company = textField(
	{
		displayName: 'Company Domain',
		name: 'company',
		placeholder: 'e.g. acme.com',
		description:
			"The domain of the company's website, or the URL of any page of it. Can be empty with 'LinkedIn URL': the service decides whether that is enough.",
	},
	(text, displayName) =>
		toDomain(
			text,
			displayName,
			'If you do not know it, leave the field empty and enter the LinkedIn URL of the person.',
		),
);

export const linkedinUrl = unlessNone(
	textField(
		{
			displayName: 'LinkedIn URL',
			name: 'linkedinUrl',
			placeholder: 'e.g. https://www.linkedin.com/in/nathan-smith',
			description: "The person's profile, which makes the result more accurate",
		},
		toUrl,
	),
);

export const location = unlessNone(
	textField(
		{
			displayName: 'Location',
			name: 'location',
			placeholder: 'e.g. Austin, Texas',
			description: 'City and region, to tell apart people with the same name',
		},
		toWords,
	),
);

export const email = textField(
	{
		displayName: 'Email',
		name: 'email',
		required: true,
		placeholder: 'e.g. nathan@acme.com',
		description: 'The address to verify',
	},
	toAddress,
	'Enter the address to verify. Before this node, filter out the items that have none.',
);
