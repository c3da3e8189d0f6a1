/** The rules for domains, URLs and email addresses. What is not certain is refused: it could become another address. */
import { InputError } from './errors';
import { NON_COMPANY_DOMAINS } from './nonCompanyDomains';
import { MASKED, mustBe, notLonger, show } from './values';

const QUOTES = '\\s"\'`´‘’‚‛“”„‟«»‹›';
/** A space, a quote or a bracket as a URL, JavaScript or HTML writes it. */
const CODE =
	'%(?:20|09|0[ad]|22|27|3[ce]|c2%a0)|\\\\?u00(?:20|22|27|3[ce]|a0)|&(?:lt|gt|nbsp|quot);';
const LONGEST_CODE = 8;

/** A quoted name may begin an address. The sign of a list has a space behind it: otherwise it masks a letter. */
const BEGIN = new RegExp(`^(?!"[^"]+"@)(?:[${QUOTES}<([,;:]|[*•-]\\s|${CODE})+`, 'iu');
/** Several dots show that the text was cut off. */
const endWith = (more: string) =>
	new RegExp(`(?:[${QUOTES}>\\],;:!?${more}]|(?<!\\.)\\.|${CODE})$`, 'iu');
const END = endWith(')');
const END_BEHIND_BRACKET = endWith('');

/** Without what surrounds a pasted value, such as quotes, brackets and punctuation. */
function withoutEdges(text: string): string {
	// Joiners of other scripts are invisible in Latin text.
	const visible = text.replace(/\p{Default_Ignorable_Code_Point}/gu, '');
	const begun = (/^\p{ASCII}*$/u.test(visible) ? visible : text).replace(BEGIN, '');
	// A URL may end in a bracket that it opens.
	const mark = begun.includes('(') ? END_BEHIND_BRACKET : END;
	let end = begun.length;
	// A regular expression that ends in `+$` takes quadratic time.
	for (let length = 1; length > 0; end -= length) {
		length = mark.exec(begun.slice(Math.max(0, end - LONGEST_CODE), end))?.[0].length ?? 0;
	}
	return begun.slice(0, end);
}

/** No domain ends like this: names within a network, files, and a word that was glued to the domain before it. */
const NO_DOMAIN =
	/(^|\.)(localhost|localdomain|local|lan|internal|intranet|invalid|corp|home|arpa|a?png|jpe?g|gif|svg|webp|avif|heic|bmp|ico|tiff?|psd|eps|css|scss|less|[mc]?js|jsx|tsx|json|xml|ya?ml|txt|csv|tsv|log|sql|pdf|docx?|xlsx?|pptx?|odt|ods|rtf|eml|msg|vcf|ics|html?|php|aspx?|jsp|woff|ttf|otf|eot|wav|avi|mkv|webm|ogg|flac|exe|dll|jar|rar|gz|tar|iso|apk|dmg|deb|bak|tmp|ini|com(?!munity$|pany$|pare$|puter$|sec$|mbank$)[a-z]+|net(?!work$|flix$|bank$)[a-z]+|org(?!anic$)[a-z]+)$|\.(com|net|org)www\.|^www\.(?!(com|net|org)$)[^.]+$/;
/** A word that was glued to a domain begins with another case, as in `acme.comPhone`. */
const GLUED = /\.(\p{Ll}{2,}\p{Lu}|\p{Lu}{2,}\p{Ll})[^.]*$/u;

/** Whether a host can be on the internet. It has two or more labels, and is no IP address. */
function isHost(host: string): boolean {
	return (
		!NO_DOMAIN.test(host) &&
		/^(?=.{4,253}$)([a-z\d_]([a-z\d_-]{0,61}[a-z\d_])?\.)+([a-z]{2,63}|xn--[a-z\d-]{1,59})$/.test(
			host,
		)
	);
}

function parseUrl(text: string): URL | undefined {
	const address = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `https://${text}`;
	const [, , authority = ''] = address.split(/[/?#]/, 3);
	const isUncertain = /\s/.test(text) || MASKED.test(authority) || GLUED.test(authority);
	return !isUncertain && URL.canParse(address) ? new URL(address) : undefined;
}

/**
 * The domain of a pasted address: `https://www.Acme.com/team` gives `acme.com` (docs/service.md, Operations).
 * @param ifNone advice for a company without a known domain
 */
export function toDomain(text: string, displayName: string, ifNone = ''): string {
	const url = parseUrl(withoutEdges(text));
	const host = url?.hostname.replace(/\.$/, '').replace(/^www\.(?=.+\.)/, '') ?? '';
	const advice = `Enter the domain of the company's own website, such as acme.com. ${ifNone}`;
	if (!url || !isHost(host)) {
		throw mustBe('a domain', text, displayName, advice.trim());
	}
	const kind = kindOfNonCompany(host, url.pathname !== '/' || url.search !== '');
	if (kind === undefined) return host;
	const problem = `must be the domain of a company, but ${show(text)} is ${kind}`;
	throw new InputError(displayName, problem, advice.trim());
}

/** What a domain is if it belongs to no company that a person can work for, such as `a social network`. */
function kindOfNonCompany(host: string, isPage: boolean): string | undefined {
	const labels = host.split('.');
	const suffixes = labels.map((_, index) => labels.slice(index).join('.'));
	const anyCountry = suffixes.map((name) => name.replace(/\.(com?\.)?[a-z]{2,3}$/, '.*'));
	for (const name of [...suffixes, ...anyCountry]) {
		const isSubdomain = !(name.endsWith('.*') ? anyCountry[0] === name : host === name);
		const kind =
			NON_COMPANY_DOMAINS.get(name) ??
			(isSubdomain || isPage ? NON_COMPANY_DOMAINS.get(`${name}/`) : undefined) ??
			(isSubdomain ? NON_COMPANY_DOMAINS.get(`*.${name}`) : undefined);
		if (kind !== undefined) return kind;
	}
	return undefined;
}

const LINKEDIN = /(^|\.)linkedin\.(com|cn)$/;
/** Where LinkedIn shows a person. Some names stand for nobody. */
const PROFILE =
	/^\/(((mwlite|m|comm)\/)?(in|pub)|sales\/(lead|people|profile)|talent\/profile|recruiter\/profile)\/(?!(undefined|null|NaN|me|unavailable|username|your-?name)(\/|$)|dir\/)(?=[^/]*[\w%])[^/:]+(\/|$)|^\/profile\/view$/;

/** What a page is if it shows no person, such as `a shortened link`. */
function kindOfOtherPage({ hostname, pathname, search }: URL): string | undefined {
	if (LINKEDIN.test(hostname)) return 'a page of LinkedIn, and not a profile';
	const kind = kindOfNonCompany(hostname, true);
	const isNeverOne = /^a (shortened link|page of a search|free mail)/.test(kind ?? '');
	return isNeverOne || (pathname === '/' && search === '') ? kind : undefined;
}

/** The only profile in the rest of another URL, such as that of a redirect, an archive or a login page. */
function profileIn({ origin, hostname, pathname, href }: URL): string | undefined {
	// Two profiles in one cell.
	if (LINKEDIN.test(hostname) && /^\/(in|pub)\/(?!https?:)./.test(pathname)) return undefined;
	const rest = href.slice(origin.length).replace(/%(25)+/g, '%');
	const plain = rest.replace(/%(3a|2f|3f|26|23|3d)/gi, (code) => decodeURIComponent(code));
	const pages = plain.matchAll(/https?:\/\/(?:[\w-]+\.)*linkedin\.com(\/(?:in|pub)\/[^/?&#]+)/gi);
	const found = [...pages].flatMap(([page, path = '']) => (PROFILE.test(path) ? [page] : []));
	const [profile, another] = new Set(found);
	return another === undefined ? profile : undefined;
}

const MAX_URL = 500;

/** The URL of a person's page. Adds `https://` if the scheme is missing, and takes a profile out of another URL. */
export function toUrl(text: string, displayName: string): string {
	const address = withoutEdges(text);
	const url = MASKED.test(address) ? undefined : parseUrl(address);
	// An expression that found no value and a placeholder give these. An address in the wrong column has a user name.
	const isSlip = /\/(undefined|null|NaN)(\/|$)|%[57][bd]|[[\]]/i.test(url?.pathname ?? '');
	const isWeb = url && /^https?:$/.test(url.protocol) && url.username === '';
	const example =
		'Enter the address of the profile, such as https://www.linkedin.com/in/nathan-smith, or leave the field empty.';
	if (!isWeb || isSlip || !isHost(url.hostname.replace(/\.$/, ''))) {
		throw mustBe('a URL', text, displayName, example);
	}
	const whole = /^https?:/i.test(address) ? address : `https://${address}`;
	const isProfile = PROFILE.test(url.pathname) && LINKEDIN.test(url.hostname);
	const profile = isProfile ? whole : profileIn(url);
	const kind = profile === undefined ? kindOfOtherPage(url) : undefined;
	if (kind === undefined) return notLonger(profile ?? whole, MAX_URL, displayName);
	const problem = `must be the profile of a person, but ${show(text)} is ${kind}`;
	throw new InputError(displayName, problem, example);
}

/** What is before the @ for nobody: a placeholder, a mask, the code of a letter, or that the address is locked. */
const NOBODY =
	/%[\p{L}_]{3,}%|%[\da-f]{2}|[?{}\\«»‹›“”„]|x{4}|#{3}|_{4}|-{4}|^mailto|^n\/a$|^[\da-f]{32}$|(^|[._-])((not|un)[._-]?(un)?locked|hidden|masked|redacted)([._-]|$)|^locked$|(^|[._-])not?[._-]?(e?mail|available|found|provided|disclosed)$|^(first|your|vor|full)[._-]?(name|e?mail|last)([._-]?(last|sur|nach)?name)?$/iu;
/** `Null` and `nan` are names. */
const NO_VALUES = /^(undefined|null|NaN)([._-](undefined|null|NaN))*$/;
/** An address that a page or a form shows as an example. */
const EXAMPLE =
	/^(name|user(name)?|e-?mail|example|someone|your?([._-]?\w+)?)@((my|your?)-?(domain|company|site|website|email)|domain|example|email)\.\w+$/i;
/** Only these Japanese providers have addresses with dots at odd places. */
const ODD_DOTS = /(^|\.)(docomo|ezweb|softbank|vodafone)\.ne\.jp$/;

/** One email address, without what surrounds a pasted one. @throws InputError for what can receive no mail */
export function toAddress(text: string, displayName: string): string {
	const pasted = text.includes('@') ? text : text.replace(/%40/, '@');
	const named = withoutEdges(pasted).replace(/^[\p{L} -]{1,30}:(?!\/\/)/u, '');
	const address = withoutEdges(named.replace(/(?<=@[^?]*)\?.*/s, ''));
	const [, local = '', domain = ''] =
		/^("[^"\\]+"|[^\s@<>()[\],;:\\"]+)@([^\s@/?#:%\\]+)$/.exec(address) ?? [];
	const host = parseUrl(domain)?.hostname ?? '';
	const isOdd = local.startsWith('.') || (/\.\.|\.$/.test(local) && !ODD_DOTS.test(host));
	const isTooLong = local.length > 64 || address.length > 254;
	const isNobody =
		EXAMPLE.test(address) ||
		!/[\p{L}\p{N}]/u.test(local) ||
		[NOBODY, NO_VALUES].some((way) => way.test(local)) ||
		MASKED.test(text.replace(/^[*•-]\s+/, ''));
	if (!isNobody && !isOdd && !isTooLong && isHost(host)) return address;
	const advice =
		'Enter an address such as nathan@acme.com. An address that is masked, locked or cut off is not one.';
	throw mustBe('one email address', text, displayName, advice);
}
