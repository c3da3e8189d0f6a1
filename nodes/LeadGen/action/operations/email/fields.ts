import {
	booleanField,
	textField,
	unlessNone,
	type Field,
	type Parameters,
} from '../../../common/parameters';
import { toAddress, toDomain, toUrl } from '../../../common/addresses';
import { plainName, splitName } from '../../../common/names';
import { toName, toWords } from '../../../common/values';

/*
 * One name, and a company or a profile, may identify a person. So none of these fields is `required`: n8n would not
 * publish a workflow in which one is empty. Each operation checks the fields that it needs.
 */
const firstName = textField(
	{
		displayName: 'First Name',
		name: 'firstName',
		placeholder: 'e.g. Nathan',
		description: 'The first name of the person. One of the names is enough.',
	},
	toName,
);

const lastName = textField(
	{
		displayName: 'Last Name',
		name: 'lastName',
		placeholder: 'e.g. Smith',
		description: 'The last name of the person. One of the names is enough.',
	},
	toName,
);

const fullName = textField(
	{
		displayName: 'Full Name',
		name: 'fullName',
		placeholder: 'e.g. Nathan Smith',
		description: `First and last name in one field, also as "Smith, Nathan". The node leaves out titles and degrees. It is used if 'First Name' and 'Last Name' are empty.`,
		hint: 'Enter a first name, a last name or a full name',
	},
	(text, displayName) => {
		// What follows a bar is left out, as in the title of a page: `Nathan Smith | LinkedIn`.
		toName(text.replace(/\s[|•].*/s, ''), displayName);
		return text;
	},
);

/** The fields for the name of a person, in the order of the editor. */
export const nameFields: ReadonlyArray<Field<string>> = [firstName, lastName, fullName];

export const cleanNames = booleanField({
	displayName: 'Clean Names',
	name: 'cleanNames',
	description: `Whether to remove titles, degrees, text in brackets and emoji from 'First Name' and 'Last Name'. For example, "Prof. Dr. Ada" becomes "Ada". This is always done with 'Full Name'.`,
});

/** The names of a person; both are empty if no field is filled in. */
export function readName(parameters: Parameters): { firstName: string; lastName: string } {
	const first = parameters.get(firstName);
	const last = parameters.get(lastName);
	const isClean = parameters.option(cleanNames);
	if (first === '' && last === '') return splitName(parameters.get(fullName));
	// A last name can be the same as a title.
	return isClean
		? { firstName: plainName(first), lastName: plainName(last) || last }
		: { firstName: first, lastName: last };
}

export const company = textField(
	{
		displayName: 'Company Domain',
		name: 'company',
		placeholder: 'e.g. acme.com',
		description:
			"The domain of the company's website. You can also enter the URL of any of its pages. Leave it empty if you only know the person's LinkedIn profile.",
	},
	toDomain,
);

export const linkedinUrl = unlessNone(
	textField(
		{
			displayName: 'LinkedIn URL',
			name: 'linkedinUrl',
			placeholder: 'e.g. https://www.linkedin.com/in/nathan-smith',
			description: "The URL of the person's LinkedIn profile. It makes the result more accurate.",
		},
		toUrl,
	),
);

/** The same field where the profile can replace the domain of the company. */
export const linkedinUrlOrCompany: Field<string> = {
	...linkedinUrl,
	property: {
		...linkedinUrl.property,
		hint: 'Enter a company domain or the URL of a profile, or both',
	},
};

/** The field of the operation Find Business Email in 1.0.0, where it was an option. */
export const linkedinUrlOption = unlessNone(
	textField(
		{
			...linkedinUrl.property,
			displayName: 'LinkedIn URL (Deprecated)',
			description:
				"Use the field 'LinkedIn URL' instead. If both are filled in, the node uses that field.",
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
			description: 'City and region, which help to tell apart people with the same name',
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
