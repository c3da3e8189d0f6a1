/** The rules for domains, URLs and email addresses. What is not certain is refused: it could become another address. */
import { InputError } from './errors';
import { NON_COMPANY_DOMAINS } from './nonCompanyDomains';
import { MASKED, mustBe, show } from './values';

/** What surrounds a pasted value. */
const EDGE = '\\s"\'`´‘’‚‛“”„‟«»‹›<>()[\\],;:!?';
const BEGIN = new RegExp(`^(?:[${EDGE}/]|mailto:)+`, 'i');
/** The lookbehind lets each run of edges be searched once. */
const END = new RegExp(`(?<=[^${EDGE}.])[${EDGE}.]+$`);

/** What stands before a value: `Ada <`, `Acme (`, `Website: `, and a name before a URL. */
const LABEL = /^(?:[^<>@]*<|[^:/@.]*(?:\(|:\s|\s(?=https?:|www\.)))(?=[^\s(<]*$)/i;

/** Without what is around a pasted value, such as quotes and labels, and a note in brackets behind it. */
function withoutEdges(text: string): string {
	const value = text.replace(LABEL, '').replace(/\s\([^()]*\)\s*$/, '');
	return value.replace(BEGIN, '').replace(END, '');
}

/** The URL in a pasted text, also if its scheme is missing, broken or twice there. A text that is masked or cut off is none. */
function parseUrl(text: string): { address: string; url?: URL } {
	const pasted = withoutEdges(text)
		.replace(/^https?:\/\/(?=https?:?\/\/)/i, '')
		.replace(/^(https?)(?::\/?|\/\/)(?=[^/])/i, '$1://')
		.replace(/(?<=[a-z]\/)\/+(?=in\/)|(?<=\/in\/)\/+/gi, '');
	const address = /^[a-z][a-z\d+.-]*:\/\//i.test(pasted) ? pasted : `https://${pasted}`;
	const isOne = !/\s/.test(pasted) && !MASKED.test(text) && URL.canParse(address);
	return { address, url: isOne ? new URL(address) : undefined };
}

/** No domain ends like this: reserved names, files, and a `www.` without its end. No company has a public suffix. */
const NO_DOMAIN =
	/(^|\.)(localhost|local|lan|internal|test|invalid|onion|arpa|png|jpe?g|gif|webp|svg|pdf|docx?|xlsx?|csv|html?|php|js)$|^www\.[^.]+$|^((com?|org|net|gov|edu|mil|gob|ac)\.[a-z]{2}|(or|ne|go)\.(jp|kr|th|id|at)|gv\.at|(ltd|plc|me|sch)\.uk)$/;

/** Whether a host can be on the internet: two or more labels, and no IP address. Domains have at most 253 characters. */
function isHost(host: string): boolean {
	const isDomain = /^(?=.{4,253}$)((?!-)[a-z\d_-]+(?<!-)\.)+([a-z]{2,}|xn--[a-z\d-]+)$/.test(host);
	return isDomain && !NO_DOMAIN.test(host);
}

/**
 * The domain of a pasted address: `https://www.Acme.com/team` gives `acme.com` (docs/service.md, Operations).
 * @param ifNone advice for a company without a known domain
 */
export function toDomain(text: string, displayName: string, ifNone = ''): string {
	const { url } = parseUrl(text);
	const host = url?.hostname.replace(/\.$/, '').replace(/^w{3,4}\d?\.(?=.+\.)/, '') ?? '';
	const advice =
		`Enter the domain of the company's own website, such as acme.com. ${ifNone}`.trim();
	if (!url || !isHost(host)) throw mustBe('a domain', text, displayName, advice);
	const kind = kindOfNonCompany(host, !START_PAGE.test(`${url.pathname}${url.search}`));
	if (kind === undefined) return host;
	const problem = `must be the domain of a company, but ${show(text)} is ${kind}`;
	throw new InputError(displayName, problem, advice);
}

/** The path of a start page: none, or the one of a language. */
const START_PAGE =
	/^\/(?!in\b)(intl\/)?([a-z]{2}([-_][a-z]{2,4})?\/?)?((index|home)(\.[a-z]+)?\/?)?(\?((utm_\w+|hl|lang|gclid|ref)=[^&]*&?)*)?$/i;
/** Subdomains on which a host writes about itself. */
const OWN_PAGES =
	/^(about|ads|ai|blog|business|careers?|cloud|corp|developers?|enterprise|help|investors?|ir|jobs|news|partners?|press|research|support|workspace|[a-z]{2})\./;
/** The ends in which a provider has its domain in many countries. `live.tv` belongs to somebody else. */
const COUNTRY =
	/\.(com|net|(com?\.)?(?!(tv|io|ai|me|fm|co|cc|ws|to|gg|so|ly|vc|la|sh|im)$)[a-z]{2})$/;

/** What a domain is if it belongs to no company that a person can work for, such as `a social network`. */
function kindOfNonCompany(host: string, isPage: boolean): string | undefined {
	const labels = host.split('.');
	const own = OWN_PAGES.test(host) ? 1 : 0;
	const names = labels.flatMap((_, index) => {
		const domain = labels.slice(index).join('.');
		const isPart = isPage || index > own;
		return [domain, domain.replace(COUNTRY, '.*')].flatMap((name) =>
			isPart ? [name, `${name}/`] : [name],
		);
	});
	const known = names.find((name) => NON_COMPANY_DOMAINS.has(name)) ?? '';
	return NON_COMPANY_DOMAINS.get(known);
}

/** What exports and templates write where a profile has its name. */
const NOBODY =
	'(?:dir|me|undefined|null|nan|none|unknown|(?:profile-?)?unavailable|not-?(?:available|found)|n[/-]?a|(?:your-?)?(?:user-?)?name|first-?name-?last-?name|hidden|locked|private|profile|example)';
/** Where LinkedIn, Sales Navigator and Recruiter show a person, with the person's name or code. */
const PROFILE = new RegExp(
	`^https?://(?:[\\w-]+\\.)*linkedin\\.(?:com|cn)/(?:(?:(?:comm|m|mwlite|incareer|public-profile|[a-z]{2})/)?(?:in|pub)/(?!${NOBODY}(?:[/?#]|$))|sales/(?:lead|people|profile)/|talent/(?:[\\w-]+/)*profile/|recruiter/profile/)([^/:?#[\\]]+)(?:[/?#]|$)`,
	'i',
);

/** The URL of a person's LinkedIn profile. Adds `https://` if the scheme is missing. */
export function toUrl(text: string, displayName: string): string {
	const { address, url } = parseUrl(text);
	if (url && PROFILE.test(url.href)) return address;
	const advice = /linkedin\.com\/(sales|talent|recruiter)\//i.test(text)
		? 'In Sales Navigator or Recruiter, open the person and choose Copy LinkedIn.com URL.'
		: 'Enter the address of the profile, such as https://www.linkedin.com/in/nathan-smith, or leave the field empty.';
	throw mustBe('the LinkedIn profile of a person', text, displayName, advice);
}

/** What an export or a finder writes where an address is locked or not there. */
const LOCKED =
	/(?<![a-z])not[._-]?(unlocked|available)|^(no[._-]?e?mail|locked|hidden|unavailable|none|n\/a)@/i;
/** An address that is no mailbox: a code for a letter, of an error tracker, or of a website. */
const NO_MAILBOX = /%|^[\da-f]{32}@|^u00[\da-f]{2}|@www\./i;
/** Dots at odd places, which only Japanese phone companies allow. */
const ODD_DOTS = /^\.(?!.*@(docomo|ezweb)\.ne\.jp$)|\.[.@](?!(.*@)?(docomo|ezweb)\.ne\.jp$)/i;

/** The domains of addresses that are examples. */
const EXAMPLE = /@(example|((your|my)-?)?(domain|company)|(your|my)-?(web)?site)\.(com|org|net)$/i;

/** One email address, without what surrounds a pasted one. @throws InputError for what can receive no mail */
export function toAddress(text: string, displayName: string): string {
	const [address = ''] = withoutEdges(text).split('?');
	const [, domain = ''] = /^[^\s@<>()[\],;:\\"]{1,64}@([^\s@/?#:%\\]+)$/.exec(address) ?? [];
	const isOne = isHost(parseUrl(domain).url?.hostname ?? '') && !MASKED.test(text);
	if (isOne && ![LOCKED, NO_MAILBOX, ODD_DOTS, EXAMPLE].some((rule) => rule.test(address)))
		return address;
	const advice =
		'Enter an address such as nathan@acme.com. An example, or one that is masked, locked or cut off, is not one.';
	throw mustBe('one email address', text, displayName, advice);
}

/** The address in what a service answers, if it is one, and not masked, locked or a text such as `N/A`. */
export function addressIn(answer: unknown): string | undefined {
	const text = typeof answer === 'string' ? withoutEdges(answer) : '';
	const isOne = /^[^\s@,;|*•█]+@([^\s@,;|*•█.]+\.)+[^\s@,;|*•█.]+$/.test(text);
	return isOne && ![MASKED, LOCKED].some((rule) => rule.test(text)) ? text : undefined;
}

/**
 * What identifies a value of a lookup: the same for all spellings of one value. Profiles differ in scheme, host, query and
 * case; names in apostrophes, hyphens and spaces; domains in the script. It is compared, and never sent.
 */
export function folded(value: unknown): unknown {
	if (typeof value !== 'string') return value;
	const signs = value.replace(/['’‘ʼʻʹ´`′＇]/g, "'").replace(/[\p{Pd}−]/gu, '-');
	const given = signs.normalize('NFKC').replace(/\s+/g, ' ');
	// The codes that LinkedIn gives to people differ in capitals, the names that people choose do not.
	const isCode = /\/(in\/ac[ow]a|sales\/|talent\/|recruiter\/)/i.test(given);
	const text = isCode ? given : given.toLowerCase().replace(/(?<=\p{L}\.) /gu, '');
	const { url } = parseUrl(text);
	const [, id = ''] = PROFILE.exec(url?.href ?? '') ?? [];
	const [, kind = '', pub = ''] =
		/\/(in|pub|sales|talent|recruiter)\/(.*?)\/*$/i.exec(url?.pathname ?? '') ?? [];
	const key = `${kind}/${kind === 'pub' ? pub : id.replace(/(,|%2c).*/i, '')}`;
	if (id) return isCode ? key : key.toLowerCase();
	const [, local, domain = ''] = /^([^@]+@)([^@]+)$/.exec(text) ?? [];
	return local === undefined ? text : `${local}${parseUrl(domain).url?.hostname ?? domain}`;
}
