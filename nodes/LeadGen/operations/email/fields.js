'use strict';
Object.defineProperty(exports, '__esModule', { value: true });
exports.email =
	exports.location =
	exports.linkedinUrl =
	exports.company =
	exports.lastName =
	exports.firstName =
		void 0;
exports.toDomain = toDomain;
exports.toUrl = toUrl;
exports.toAddress = toAddress;
const errors_1 = require('../../service/errors');
const parameters_1 = require('../../parameters');
exports.firstName = (0, parameters_1.textField)({
	displayName: 'First Name',
	name: 'firstName',
	required: true,
	placeholder: 'e.g. Nathan',
	description: "The person's first name",
});
exports.lastName = (0, parameters_1.textField)({
	displayName: 'Last Name',
	name: 'lastName',
	required: true,
	placeholder: 'e.g. Smith',
	description: "The person's last name",
});
exports.company = (0, parameters_1.textField)(
	{
		displayName: 'Company Domain',
		name: 'company',
		required: true,
		placeholder: 'e.g. acme.com',
		description:
			"The domain of the company's website. The address of any of its pages will do: it is cut down to the domain.",
	},
	toDomain,
);
exports.linkedinUrl = (0, parameters_1.textField)(
	{
		displayName: 'LinkedIn URL',
		name: 'linkedinUrl',
		placeholder: 'e.g. https://www.linkedin.com/in/nathan-smith',
		description: "The address of the person's profile, which makes the result more accurate",
	},
	toUrl,
);
exports.location = (0, parameters_1.textField)({
	displayName: 'Location',
	name: 'location',
	placeholder: 'e.g. Austin, Texas',
	description: 'City and region, which help to tell apart people of the same name',
});
exports.email = (0, parameters_1.textField)(
	{
		displayName: 'Email',
		name: 'email',
		required: true,
		placeholder: 'e.g. nathan@acme.com',
		description: 'The address to verify',
	},
	toAddress,
);
/** The domain in a pasted address: `https://www.Acme.com/team` gives `acme.com` (interface 4.4). */
function toDomain(text, displayName = exports.company.property.displayName) {
	const url = hasSpace(text) ? undefined : parseUrl(text);
	const host = url?.hostname.replace(/\.$/, '').replace(/^www\.(?=.+\.)/, '') ?? '';
	if (!/^[^.]+(\.[^.]+)+$/.test(host)) {
		throw new errors_1.InputError(
			displayName,
			`must be a domain, and is ${(0, parameters_1.show)(text)}`,
			"Give the domain of the company's website, such as acme.com, rather than its name.",
		);
	}
	return host;
}
/** The address of a page, with `https://` where the scheme was left out. */
function toUrl(text, displayName) {
	const url = hasSpace(text) ? undefined : parseUrl(text);
	if (!url || !/^https?:$/.test(url.protocol)) {
		throw new errors_1.InputError(
			displayName,
			`must be the address of a page, and is ${(0, parameters_1.show)(text)}`,
			'Give a full address such as https://www.linkedin.com/in/nathan-smith, or leave it empty.',
		);
	}
	return /^https?:/i.test(text) ? text : `https://${text}`;
}
/** An email address without a `mailto:` in front; only what can't be an address is refused. */
function toAddress(text, displayName = exports.email.property.displayName) {
	const address = text.replace(/^mailto:/i, '').trim();
	if (hasSpace(address) || !/^[^@]+@[^@]+$/.test(address)) {
		throw new errors_1.InputError(
			displayName,
			`must be one email address, and is ${(0, parameters_1.show)(text)}`,
			'Give an address such as nathan@acme.com.',
		);
	}
	return address;
}
function hasSpace(text) {
	return /\s/.test(text);
}
function parseUrl(text) {
	const address = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `https://${text}`;
	return URL.canParse(address) ? new URL(address) : undefined;
}
