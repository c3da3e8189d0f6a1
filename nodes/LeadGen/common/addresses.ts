/** The rules for domains, URLs and email addresses. What is not certain is refused: it could become another address. */
import { InputError } from './errors';
import { NON_COMPANY_DOMAINS } from './nonCompanyDomains';
import { MASKED, mustBe, show } from './values';

/** What surrounds a pasted value. */
const EDGE = '\\s"\'`´‘’‚‛“”„‟«»‹›<>()[\\],;:!?';
const BEGIN = new RegExp(`^(?:[${EDGE}/]|mailto:)+`, 'i');
/** The lookbehind lets each run of edges be searched once. */
const END = new RegExp(`(?<=[^${EDGE}.])[${EDGE}.]+$`);

function withoutEdges(text: string): string {
	return text.replace(BEGIN, '').replace(END, '');
}

/** The URL in a pasted text, also without a scheme. A text that is masked or cut off is none. */
function parseUrl(text: string): { address: string; url?: URL } {
	const pasted = withoutEdges(text);
	const address = /^[a-z][a-z\d+.-]*:\/\//i.test(pasted) ? pasted : `https://${pasted}`;
	const isOne = !/\s/.test(pasted) && !MASKED.test(text) && URL.canParse(address);
	return { address, url: isOne ? new URL(address) : undefined };
}

/** No domain ends like this: names within a network, files, and a `www.` without its end. */
const NO_DOMAIN =
	/(^|\.)(localhost|local|lan|internal|png|jpe?g|gif|webp|svg|pdf|docx?|xlsx?|csv|html?|php|js)$|^www\.[^.]+$/;

/** Whether a host can be on the internet: two or more labels, and no IP address. Domains have at most 253 characters. */
function isHost(host: string): boolean {
	const isDomain = /^(?=.{4,253}$)([a-z\d_-]+\.)+([a-z]{2,}|xn--[a-z\d-]+)$/.test(host);
	return isDomain && !NO_DOMAIN.test(host);
}

/**
 * The domain of a pasted address: `https://www.Acme.com/team` gives `acme.com` (docs/service.md, Operations).
 * @param ifNone advice for a company without a known domain
 */
export function toDomain(text: string, displayName: string, ifNone = ''): string {
	const { url } = parseUrl(text);
	const host = url?.hostname.replace(/\.$/, '').replace(/^www\.(?=.+\.)/, '') ?? '';
	const advice =
		`Enter the domain of the company's own website, such as acme.com. ${ifNone}`.trim();
	if (!url || !isHost(host)) throw mustBe('a domain', text, displayName, advice);
	const kind = kindOfNonCompany(host, url.pathname !== '/' || url.search !== '');
	if (kind === undefined) return host;
	const problem = `must be the domain of a company, but ${show(text)} is ${kind}`;
	throw new InputError(displayName, problem, advice);
}

/** What a domain is if it belongs to no company that a person can work for, such as `a social network`. */
function kindOfNonCompany(host: string, isPage: boolean): string | undefined {
	const labels = host.split('.');
	const names = labels.flatMap((_, index) => {
		const domain = labels.slice(index).join('.');
		const inAnyCountry = domain.replace(/\.(com?\.)?[a-z]{2,3}$/, '.*');
		const isPart = isPage || index > 0;
		return [domain, inAnyCountry].flatMap((name) => (isPart ? [name, `${name}/`] : [name]));
	});
	const known = names.find((name) => NON_COMPANY_DOMAINS.has(name)) ?? '';
	return NON_COMPANY_DOMAINS.get(known);
}

/** Where LinkedIn, Sales Navigator and Recruiter show a person. */
const PROFILE =
	/^https?:\/\/([\w-]+\.)*linkedin\.com\/((comm\/)?(in|pub)\/(?!dir\/|me\/?$)|sales\/(lead|people)\/|talent\/profile\/)[^/:?#[\]]+([/?#]|$)/;

/** The URL of a person's LinkedIn profile. Adds `https://` if the scheme is missing. */
export function toUrl(text: string, displayName: string): string {
	const { address, url } = parseUrl(text);
	if (url && PROFILE.test(url.href)) return address;
	const advice =
		'Enter the address of the profile, such as https://www.linkedin.com/in/nathan-smith, or leave the field empty.';
	throw mustBe('the LinkedIn profile of a person', text, displayName, advice);
}

/** An address that is no mailbox: dots at odd places, a code for a letter, locked by an export, or an example. */
const NO_MAILBOX =
	/^\.|\.[.@]|%|not[._-]?(unlocked|available)|^(no[._-]?e?mail|locked|hidden)@|@(domain|company|example)\.com$/i;

/** One email address, without what surrounds a pasted one. @throws InputError for what can receive no mail */
export function toAddress(text: string, displayName: string): string {
	// Mail programs write `Ada Okafor <ada@acme.com>`.
	const pasted = text.replace(/^[^<>@]*<([^<>]*)>$/, '$1');
	const [address = ''] = withoutEdges(pasted).split('?');
	const [, domain = ''] = /^[^\s@<>()[\],;:\\"]{1,64}@([^\s@/?#:%\\]+)$/.exec(address) ?? [];
	const host = parseUrl(domain).url?.hostname ?? '';
	if (isHost(host) && !NO_MAILBOX.test(address) && !MASKED.test(pasted)) return address;
	const advice =
		'Enter an address such as nathan@acme.com. An address that is masked, locked or cut off is not one.';
	throw mustBe('one email address', text, displayName, advice);
}
