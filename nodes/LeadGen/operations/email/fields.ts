import { InputError } from '../../service/errors';
import { show, textField } from '../../parameters';

/*
 * One name, and a company or a profile, may identify a person. So none of these fields is `required`: n8n would not
 * publish a workflow in which one is empty. Each operation checks the fields that it needs.
 */
export const firstName = textField({
	displayName: 'First Name',
	name: 'firstName',
	placeholder: 'e.g. Nathan',
	description: 'The first name of the person. Enter at least one of the two names.',
});

export const lastName = textField({
	displayName: 'Last Name',
	name: 'lastName',
	placeholder: 'e.g. Smith',
	description: 'The last name of the person. Enter at least one of the two names.',
});

export const company = textField(
	{
		displayName: 'Company Domain',
		name: 'company',
		placeholder: 'e.g. acme.com',
		description:
			'The domain of the website of the company. You can also enter the URL of any of its pages. Leave it empty if you only know the LinkedIn profile of the person.',
	},
	toDomain,
);

export const linkedinUrl = textField(
	{
		displayName: 'LinkedIn URL',
		name: 'linkedinUrl',
		placeholder: 'e.g. https://www.linkedin.com/in/nathan-smith',
		description:
			'The URL of the LinkedIn profile of the person. It makes the result more accurate.',
	},
	toUrl,
);

/** The field of the operation Find Business Email in 1.0.0, where it was an option. */
export const linkedinUrlOption = textField(
	{
		...linkedinUrl.property,
		displayName: 'LinkedIn URL (Deprecated)',
		description:
			"Use the field 'LinkedIn URL' instead. If both are filled in, the node uses that field.",
	},
	toUrl,
);

export const location = textField({
	displayName: 'Location',
	name: 'location',
	placeholder: 'e.g. Austin, Texas',
	description: 'City and region. They help to tell apart people of the same name.',
});

export const email = textField(
	{
		displayName: 'Email',
		name: 'email',
		required: true,
		placeholder: 'e.g. nathan@acme.com',
		description: 'The address to verify',
	},
	toAddress,
);

/** The domain of a pasted address: `https://www.Acme.com/team` gives `acme.com` (docs/service.md, Operations). */
export function toDomain(text: string, displayName = company.property.displayName): string {
	const url = parseUrl(text);
	const host = url?.hostname.replace(/\.$/, '').replace(/^www\.(?=.+\.)/, '') ?? '';
	const isProfile = /^(.+\.)?linkedin\.com$/.test(host) && url?.pathname !== '/';
	if (!isHost(host) || isProfile) {
		throw new InputError(
			displayName,
			`must be a domain, but is ${show(text)}`,
			"Enter the domain of the company's website, such as acme.com, not the name of the company.",
		);
	}
	return host;
}

/** The URL of a page. Adds `https://` if the scheme is missing. */
export function toUrl(text: string, displayName: string): string {
	const url = parseUrl(text);
	if (!url || !/^https?:$/.test(url.protocol) || !isHost(url.hostname)) {
		throw new InputError(
			displayName,
			`must be a URL, but is ${show(text)}`,
			'Enter a full URL such as https://www.linkedin.com/in/nathan-smith, or leave it empty.',
		);
	}
	return /^https?:/i.test(text) ? text : `https://${text}`;
}

/** An email address without the other parts of a `mailto:` link. Refuses only what cannot be one address. */
export function toAddress(text: string, displayName = email.property.displayName): string {
	const [, linked] = /^mailto:([^?]*)/i.exec(text) ?? [];
	const address = (linked ?? text).trim();
	if (!/^[^@\s<>,;]+@[^@\s<>,;]+$/.test(address)) {
		throw new InputError(
			displayName,
			`must be one email address, but is ${show(text)}`,
			'Enter an address such as nathan@acme.com.',
		);
	}
	return address;
}

/** Whether a host can be on the internet: it has at least two names, and is no number or IP address. */
function isHost(host: string): boolean {
	return /^([a-z\d_-]+\.)+(?!\d+\.?$)[a-z\d-]+\.?$/i.test(host);
}

function parseUrl(text: string): URL | undefined {
	if (/\s/.test(text)) return undefined;
	const address = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `https://${text}`;
	return URL.canParse(address) ? new URL(address) : undefined;
}
