/** The rules for domains, URLs and email addresses. What is not certain is refused: it could become another address. */
import { InputError } from './errors';
import { kindOfNonCompany } from './nonCompanyDomains';
import { MASKED, mustBe, show } from './values';

/** What is between a value and its labels, notes and repetitions: `Ada <`, `Acme (`, `Website: `, `acme.com | `. */
const BETWEEN =
	/[<>()[\]"“”„‟«»‹›|]|[,;:](?:\s|$)|(?:^|\s)[-–—/•\p{So}]+(?:\s|$)|\s(?=https?:|www\.)/iu;
/** What is around a pasted value. The lookbehind lets each run of these be searched once. */
const EDGES = /^[\s=,;:!?/'`´‘’‚‛*•\p{So}]+|(?<=[^\s,;:!?.'`´‘’‚‛*])[\s,;:!?.'`´‘’‚‛*]+$/gu;
/** Schemes, also broken or repeated ones: `https://`, `http//`, `https://http://`, `mailto:`. */
const SCHEMES = /^(?:[a-z-]+(?:\\?[:;][/\\]*|\/\/))+/i;

/** A pasted value without its scheme. */
const withoutScheme = (piece: string) => piece.replace(SCHEMES, '').replace(/\/{2,}/g, '/');

function urlOf(piece: string): URL | undefined {
	const address = `https://${withoutScheme(piece)}`;
	return !/\s/.test(piece) && URL.canParse(address) ? new URL(address) : undefined;
}

/** The one value in a text, if it has no other key, and is not masked. `keyOf` is the same for all spellings of one. */
function oneIn(text: string, keyOf: (piece: string) => string): string {
	const joined = text
		.replace(/\b(www)[\s,.]+/gi, '$1.')
		.replace(/ ?(?:@|%40|[([]at[)\]]) ?/gi, '@')
		.replace(/ ?[([](?:dot|punkt)[)\]] ?/gi, '.')
		.replace(/(?<=:\/\/) | (?=\.[a-z])/gi, '');
	const all = joined.split(BETWEEN).map((piece) => piece.replace(EDGES, ''));
	const values = all.filter((piece) => keyOf(piece));
	const isOne =
		new Set(values.map(keyOf)).size === 1 && !MASKED.test(text.replace(/^\*\*(.*)\*\*$/s, '$1'));
	return isOne ? (values[0] ?? '') : '';
}

/** Two or more labels, of which only those of subdomains can have underscores, and no IP address. */
const DOMAIN =
	/^(?=.{4,253}$)(?!.*_[^.]*\.[^.]+$)((?!-)[a-z\d_-]+(?<!-)\.)+([a-z]{2,}|xn--[a-z\d-]+)$/;
/** Reserved names, files, a `www.` without its end, public suffixes, and examples. */
const NO_DOMAIN =
	/(^|\.)(localhost|local|lan|internal|test|invalid|onion|arpa|con|comm|png|jpe?g|gif|webp|svg|pdf|docx?|xlsx?|csv|html?|php|js)$|^www\.[^.]+$|^((com?|org|net|gov|edu|mil|gob|ac)\.[a-z]{2}|(or|ne|go)\.(jp|kr|th|id|at)|gv\.at|(ltd|plc|me|sch)\.uk)$|^(www\.)?(example|((your|my)-?)?(domain|company)|(your|my)-?(web)?site)\.(com|org|net)$/;

/** The host of a URL, an address or a domain, or nothing if it cannot be on the internet. */
function hostOf(piece: string): string {
	const host = urlOf(piece)?.hostname.replace(/\.$/, '') ?? '';
	return DOMAIN.test(host) && !NO_DOMAIN.test(host)
		? host.replace(/^(?:w{3,4}\d?\.(?=.+\.))+/, '')
		: '';
}

/** The path of a start page: none, or the one of a language. */
const START_PAGE =
	/^\/(?!in\b)(intl\/)?([a-z]{2}([-_][a-z]{2,4})?\/?)?((index|home)(\.[a-z]+)?\/?)?(\?((utm_\w+|hl|lang|gclid|ref)=[^&]*&?)*)?$/i;

/** The domain of a pasted URL (docs/service.md, Operations). `ifNone` is advice for a company without a known one. */
export function toDomain(text: string, displayName: string, ifNone = ''): string {
	const value = oneIn(text, hostOf);
	const advice =
		`Enter the domain of the company's own website, such as acme.com. ${ifNone}`.trim();
	if (!value) throw mustBe('a domain', text, displayName, advice);
	const { pathname = '', search = '' } = urlOf(value) ?? {};
	const kind = kindOfNonCompany(hostOf(value), !START_PAGE.test(pathname + search));
	if (kind === undefined) return hostOf(value);
	const problem = `must be the domain of a company, but ${show(text)} is ${kind}`;
	throw new InputError(displayName, problem, advice);
}

/** What exports and templates write where a profile has its name. */
const NO_PROFILE =
	'(?:dir|me|undefined|null|nan|none|unknown|(?:profile-?)?unavailable|not-?(?:available|found)|n[/-]?a|(?:your-?)?(?:user-?)?(?:name|profile)|first-?name-?last-?name|hidden|locked|private|example)';
/** Where LinkedIn, Sales Navigator and Recruiter show a person, with the person's name or code. */
const PROFILE = new RegExp(
	`^https://(?:[\\w-]+\\.)*linkedin\\.(?:com|cn)/(?:(?:(?:comm|m|mwlite|incareer|public-profile|[a-z]{2})/)?(?:in|pub)/(?!${NO_PROFILE}(?:[/?#]|$))|sales/(?:lead|people|profile)/|talent/(?:[\\w-]+/)*profile/|recruiter/profile/)([^/:?#[\\]&]+)(?:[/?#]|$)`,
	'i',
);

/** The same for all spellings of a profile, which differ in scheme, host, query and case. Nothing for other pages. */
function profileKey(piece: string): string {
	// The codes that LinkedIn gives to people differ in capitals, the names that people choose do not.
	const isCode = /\/(in\/ac[ow]a|sales\/|talent\/|recruiter\/)/i.test(piece);
	const inOneCase = (text: string) => (isCode ? text : text.toLowerCase());
	const { href = '', pathname = '' } = urlOf(inOneCase(piece)) ?? {};
	const [, id = ''] = PROFILE.exec(href) ?? [];
	const [, kind = '', rest = ''] =
		/\/(in|pub|sales|talent|recruiter)\/(.*?)\/*$/i.exec(pathname) ?? [];
	const name = kind === 'pub' ? rest : id.replace(/(,|%2c).*/i, '');
	return id && inOneCase(`${kind}/${name}`);
}

/** The URL of a person's LinkedIn profile. Adds `https://` if the scheme is missing. */
export function toUrl(text: string, displayName: string): string {
	const value = oneIn(text.replace(/^\/?(?=in\/)/i, 'linkedin.com/'), profileKey);
	if (value) return `https://${withoutScheme(value)}`;
	const advice = /linkedin\.com\/(sales|talent|recruiter)\//i.test(text)
		? 'In Sales Navigator or Recruiter, open the person and choose Copy LinkedIn.com URL.'
		: 'Enter the address of the profile, such as https://www.linkedin.com/in/nathan-smith, or leave the field empty.';
	throw mustBe('the LinkedIn profile of a person', text, displayName, advice);
}

/** What an export or a finder writes where an address is locked or not there. */
const LOCKED =
	/(?<![a-z])not[._-]?(unlocked|available)|^(no[._-]?e?mail|locked|hidden|unavailable|none|n\/a)@/i;
/** Examples, codes for letters, error trackers, websites, and odd dots, which only Japanese phone companies allow. */
const NO_MAILBOX =
	/^(first[._-]?name|vorname|pr[ée]nom|nombre|max\.mustermann)[._@-]|^test@test\.|@users\.noreply\.|%|^[\da-f]{32}@|^u00[\da-f]{2}|@www\.|^\.(?!.*@(docomo|ezweb)\.ne\.jp$)|\.[.@](?!(.*@)?(docomo|ezweb)\.ne\.jp$)/i;

/** The one address in a pasted text, which need not be valid, without `mailto:` and the subject of a message. */
function addressOf(text: string): string {
	const plain = (piece: string) => withoutScheme(piece.replace(/\?.*|\/$/s, ''));
	const keyOf = (piece: string) => (piece.includes('@') ? String(folded(plain(piece))) : '');
	return plain(oneIn(text, keyOf));
}

/** One email address, without what surrounds a pasted one. @throws InputError for what can receive no mail */
export function toAddress(text: string, displayName: string): string {
	const address = addressOf(text);
	const [, domain = ''] = /^[^\s@<>()[\],;:\\"]{1,64}@([^\s@/?#:%\\]+)$/.exec(address) ?? [];
	if (hostOf(domain) && !LOCKED.test(address) && !NO_MAILBOX.test(address)) return address;
	const advice =
		'Enter an address such as nathan@acme.com. An example, or one that is masked, locked or cut off, is not one.';
	throw mustBe('one email address', text, displayName, advice);
}

/** The address in what a service answers, if it is one, and not masked, locked or a text such as `N/A`. */
export function addressIn(answer: unknown): string | undefined {
	const address = typeof answer === 'string' ? addressOf(answer) : '';
	const isOne = /^[^\s@,;*•█]+@([^\s@,;*•█.]+\.)+[^\s@,;*•█.]+$/.test(address);
	return isOne && !LOCKED.test(address) ? address : undefined;
}

/** What identifies a value of a lookup, in all its spellings. It is compared, and never sent. */
export function folded(value: unknown): unknown {
	if (typeof value !== 'string') return value;
	const key = profileKey(value);
	if (key) return key;
	const signs = value.replace(/['’‘ʼʻʹ´`′＇]/g, "'").replace(/[\p{Pd}−]/gu, '-');
	const text = signs.normalize('NFKC').toLowerCase();
	const [, local, domain = ''] = /^([^@]+@)([^@]+)$/.exec(text) ?? [];
	if (local !== undefined) return `${local}${urlOf(domain)?.hostname ?? domain}`;
	return text.replace(/(?<=\p{L}\.) /gu, '');
}
