/** The rules for domains, URLs and email addresses. What is not certain is refused: it could become another address. */
import { InputError } from './errors';
import { NON_COMPANY_DOMAINS } from './nonCompanyDomains';
import { mustBe, notLonger, show } from './values';

/** What surrounds a pasted value. */
const EDGE = '\\s"\'`´‘’‚‛“”„‟«»‹›<>()[\\],;:!?';
/** Also codes of a space and a bracket, as scraped pages have them, and labels such as `E-Mail:` and `mailto:`. */
const BEGIN = new RegExp(`^(?:[${EDGE}/]|%20|\\\\?u003[ce]|[a-z -]{2,20}:(?!//))+`, 'i');
/** The lookbehind lets each run of edges be searched once. */
const END = new RegExp(`(?<=[^${EDGE}.])[${EDGE}.]+$`);

function withoutEdges(text: string): string {
	return text.replace(BEGIN, '').replace(END, '');
}

/** What stands for letters that the reader may not see, such as `j***@acme.com` and `acme.co…`. */
const MASKED = /[*•●∙█▪■…]|[.·]{3}/;

/** No domain ends like this: names within a network, files, and a `www.` without its end. */
const NO_DOMAIN =
	/(^|\.)(localhost|local|lan|internal|intranet|corp|png|jpe?g|gif|webp|svg|pdf|docx?|xlsx?|csv|html?|php|css|js)$|^www\.[^.]+$/;

/** Whether a host can be on the internet: two or more labels, and no IP address. Domains have at most 253 characters. */
function isHost(host: string): boolean {
	return (
		/^(?=.{4,253}$)([a-z\d_-]+\.)+([a-z]{2,}|xn--[a-z\d-]+)$/.test(host) && !NO_DOMAIN.test(host)
	);
}

/** The URL in a pasted text, also without a scheme. */
function parseUrl(text: string): { address: string; url?: URL } {
	const pasted = withoutEdges(text);
	const address = /^[a-z][a-z\d+.-]*:\/\//i.test(pasted) ? pasted : `https://${pasted}`;
	const isOne = !/\s/.test(pasted) && URL.canParse(address);
	return { address, url: isOne ? new URL(address) : undefined };
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
	const [beforePath = ''] = text.split(/(?<!\/)\/(?!\/)/, 1);
	if (!url || !isHost(host) || MASKED.test(beforePath)) {
		throw mustBe('a domain', text, displayName, advice);
	}
	const kind = kindOfNonCompany(host, url.pathname !== '/' || url.search !== '');
	if (kind === undefined) return host;
	const problem = `must be the domain of a company, but ${show(text)} is ${kind}`;
	throw new InputError(displayName, problem, advice);
}

/** What a domain is if it belongs to no company that a person can work for, such as `a social network`. */
function kindOfNonCompany(host: string, isPage: boolean): string | undefined {
	const labels = host.split('.');
	const kinds = labels.flatMap((_, index) => {
		const domain = labels.slice(index).join('.');
		const inAnyCountry = domain.replace(/\.(com?\.)?[a-z]{2,3}$/, '.*');
		const isPart = isPage || index > 0;
		return [domain, inAnyCountry].flatMap((name) => [
			NON_COMPANY_DOMAINS.get(name),
			isPart ? NON_COMPANY_DOMAINS.get(`${name}/`) : undefined,
		]);
	});
	return kinds.find((kind) => kind !== undefined);
}

/** Where LinkedIn, Sales Navigator and Recruiter show a person. */
const PROFILE =
	/^https?:\/\/([\w-]+\.)*linkedin\.(com|cn)\/((\w+\/)?(in|pub)\/(?!dir\/|me\/?$)|sales\/(lead|people|profile)\/|(talent|recruiter)\/profile\/)[^/:?#[\]]+([/?#]|$)/;
const MAX_URL = 500;

/** The URL of a person's LinkedIn profile. Adds `https://` if the scheme is missing. */
export function toUrl(text: string, displayName: string): string {
	const { address, url } = parseUrl(text);
	if (url && PROFILE.test(url.href) && !MASKED.test(text)) {
		return notLonger(address, MAX_URL, displayName);
	}
	const advice =
		'Enter the address of the profile, such as https://www.linkedin.com/in/nathan-smith, or leave the field empty.';
	throw mustBe('the LinkedIn profile of a person', text, displayName, advice);
}

/** An address that is no mailbox: dots at odd places, a code or a mask for letters, a placeholder, an example. */
const NO_MAILBOX =
	/^\.|\.[.@]|%|x{4}|not[._-]?(unlocked|available|found)|^(no[._-]?e?mail|locked|hidden|[\da-f]{32}|first[._-]?(name[._-]?)?last([._-]?name)?|your[._-]?(name|e?mail)?)@|@((your-?)?(domain|company)|example)\.com$/i;

/** One email address, without what surrounds a pasted one. @throws InputError for what can receive no mail */
export function toAddress(text: string, displayName: string): string {
	// Mail programs write `Ada Okafor <ada@acme.com>`.
	const pasted = text.replace(/^[^<>@]*<([^<>]*)>$/, '$1');
	const [address = ''] = withoutEdges(pasted).split('?');
	const [, local = '', domain = ''] =
		/^([^\s@<>()[\],;:\\"]+)@([^\s@/?#:%\\]+)$/.exec(address) ?? [];
	const host = parseUrl(domain).url?.hostname ?? '';
	const isTooLong = local.length > 64 || address.length > 254;
	const isNobody = NO_MAILBOX.test(address) || MASKED.test(text);
	if (isHost(host) && !isNobody && !isTooLong) return address;
	const advice =
		'Enter an address such as nathan@acme.com. An address that is masked, locked or cut off is not one.';
	throw mustBe('one email address', text, displayName, advice);
}
