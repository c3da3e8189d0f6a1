/** The rules for domains, URLs and email addresses. */
import { FOREIGN_HOSTS } from './foreignHosts';
import { InputError } from './errors';
import { isPlaceholder, show } from './values';

/** Without the joiners of other scripts, which are invisible in Latin text. */
function withoutJoiners(text: string): string {
	const visible = text.replace(/\p{Default_Ignorable_Code_Point}/gu, '');
	return /^\p{ASCII}*$/u.test(visible) ? visible : text;
}

/** Without what surrounds a pasted value, such as quotes, brackets and punctuation. */
function withoutEdges(text: string, isUrl = false): string {
	// A quoted name may begin an address.
	const begun = text.replace(/^(?!"[^"]+"@)[\s"'`´‘’‚‛“”„‟«»‹›<([{,;:•·*–—]+/u, '');
	const ended = withoutEnd(begun, /[\s"'`´‘’“”„«»‹›>\]},;:.!?…|)]/u);
	if (!isUrl) return withoutEnd(ended, /[\s"'`´‘’“”„«»‹›>)\]},;:.!?*…/\\|•·–—]/u);
	// A URL may end in a bracket that it opens.
	return ended.includes('(') ? withoutEnd(begun, /[\s"'`´‘’“”„«»‹›>\]},;:.!?…|]/u) : ended;
}

/** Without the marks at the end. A regular expression that ends in `+$` takes quadratic time. */
function withoutEnd(text: string, mark: RegExp): string {
	let end = text.length;
	while (end > 0 && mark.test(text.charAt(end - 1))) end--;
	return text.slice(0, end);
}

// Hosts and URLs

/** Whether a host can be on the internet. It has two or more labels, and is no IP address. */
function isHost(host: string): boolean {
	const isPublic =
		!/(^|\.)(localhost|localdomain|local|lan|internal|intranet|invalid|corp|home|arpa)$/.test(host);
	return (
		isPublic &&
		/^(?=.{4,253}$)([a-z\d_]([a-z\d_-]{0,61}[a-z\d_])?\.)+([a-z]{2,63}|xn--[a-z\d-]{1,59})$/.test(
			host,
		)
	);
}

function parseUrl(text: string): URL | undefined {
	if (/\s/.test(text)) return undefined;
	const address = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `https://${text}`;
	return URL.canParse(address) ? new URL(address) : undefined;
}

/** The domain of a pasted address: `https://www.Acme.com/team` gives `acme.com` (docs/service.md, Operations). */
export function toDomain(text: string, displayName: string): string {
	const url = parseUrl(withoutEdges(withoutJoiners(text)));
	const host = url?.hostname.replace(/\.$/, '').replace(/^www\.(?=.+\.)/, '') ?? '';
	if (!url || !isHost(host) || isPlaceholder(text)) {
		throw new InputError(
			displayName,
			`must be a domain, but is ${show(text)}`,
			"Enter the domain of the company's website, such as acme.com, not the name of the company. If you only know the name, leave the domain empty and enter the LinkedIn URL of the person.",
		);
	}
	const kind = kindOfForeignHost(host, url.pathname !== '/' || url.search !== '');
	if (kind !== undefined) {
		throw new InputError(
			displayName,
			`must be the domain of a company, but ${show(text)} is ${kind}`,
			"Enter the domain of the company's own website, such as acme.com. If it has none, leave the field empty and enter the LinkedIn URL of the person.",
		);
	}
	return host;
}

/** What a host is if it belongs to no company that a person can work for, such as `a social network`. */
function kindOfForeignHost(host: string, isPage: boolean): string | undefined {
	const labels = host.split('.');
	const suffixes = labels.map((_, index) => labels.slice(index).join('.'));
	const anyCountry = suffixes.map((name) => name.replace(/\.(com?\.)?[a-z]{2,3}$/, '.*'));
	for (const name of [...suffixes, ...anyCountry]) {
		const isSubdomain = !(name.endsWith('.*') ? anyCountry[0] === name : host === name);
		const kind =
			FOREIGN_HOSTS.get(name) ??
			(isSubdomain || isPage ? FOREIGN_HOSTS.get(`${name}/`) : undefined) ??
			(isSubdomain ? FOREIGN_HOSTS.get(`*.${name}`) : undefined);
		if (kind !== undefined) return kind;
	}
	return undefined;
}

/** The URL of a page. Adds `https://` if the scheme is missing. */
export function toUrl(text: string, displayName: string): string {
	const label = /^[\p{L} -]{1,20}:\s*(?=https?:\/\/|([a-z]{2,3}\.)?linkedin\.com)/iu;
	const address = withoutEdges(withoutJoiners(text), true).replace(label, '');
	const url = parseUrl(address);
	// An expression that found no value gives these, and an address in the wrong column has a user name.
	const isSlip = /\/(undefined|null|NaN)(\/|$)|^\/(in|pub)\/?$/.test(url?.pathname ?? '');
	if (
		!url ||
		!/^https?:$/.test(url.protocol) ||
		!isHost(url.hostname.replace(/\.$/, '')) ||
		url.username !== '' ||
		isSlip
	) {
		throw new InputError(
			displayName,
			`must be a URL, but is ${show(text)}`,
			'Enter a full URL such as https://www.linkedin.com/in/nathan-smith, or leave it empty.',
		);
	}
	return /^https?:/i.test(address) ? address : `https://${address}`;
}

// Addresses

const MAX_ADDRESS = 254;
const MAX_LOCAL_PART = 64;

/** One email address, without what surrounds a pasted one. @throws InputError for what can receive no mail */
export function toAddress(text: string, displayName: string): string {
	const pasted = text.includes('@') ? text : text.replace(/%40/, '@');
	const address = withoutEdges(
		withoutEdges(withoutJoiners(pasted))
			.replace(/^[\p{L} -]{1,30}:(?!\/\/)/u, '')
			.replace(/(?<=@[^?]*)\?.*$/, ''),
	);
	const [, local = '', domain = ''] =
		/^("[^"\\]+"|[^\s@<>()[\],;:\\"]+)@([^\s@/?#:%\\]+)$/.exec(address) ?? [];
	const host = parseUrl(domain)?.hostname ?? '';
	const isSlip = /^(undefined|null|NaN)$/.test(local) || local.startsWith('.');
	if (isSlip || !isHost(host) || local.length > MAX_LOCAL_PART || address.length > MAX_ADDRESS) {
		throw new InputError(
			displayName,
			`must be one email address, but is ${show(text)}`,
			'Enter an address such as nathan@acme.com.',
		);
	}
	return address;
}
