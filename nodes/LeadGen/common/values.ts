/**
 * Every rule for the values that a user enters: what the node cleans, and what it refuses because it can only be wrong and
 * would be paid for. The parameters of both nodes are read with these functions. docs/values.md explains the rules.
 */
import { jsonParse } from 'n8n-workflow';
import { FOREIGN_HOSTS } from './foreignHosts';
import { InputError } from './errors';

// All text

/** The text of a value from an expression. A list, an object or a switch is a mistake in the expression. */
export function toText(value: unknown, displayName: string): string {
	if (typeof value === 'string') return value;
	if (value === null || value === undefined) return '';
	if (typeof value === 'number' && Number.isFinite(value)) return String(value);
	throw new InputError(
		displayName,
		`must be text, but is ${show(value)}`,
		'Change the expression so that it returns a single text value.',
	);
}

/** A value for an error message, short enough to read. */
export function show(value: unknown): string {
	if (value === undefined) return 'empty';
	// JSON has no functions and symbols.
	const json = JSON.stringify(value) as string | undefined;
	const text = json ?? `a ${typeof value}`;
	return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}

const SPACES = /[\s\u0085]+/g;
/** Becomes a space, with all spaces around it. An ideographic space stays, because names contain it. */
const ODD_SPACE = /[\t\n\v\f\r\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f]/;
/** Invisible: control and format characters, fillers, blanks. Not the signs that Arabic writes before a number. */
const INVISIBLE =
	/(?![\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}\u180e\u200c\u200d])[\p{Cc}\p{Cf}]|[\u115f\u1160\u2065\u2800\u3164\uffa0\ufff0-\ufff8\ufffc\u{e0000}-\u{e00ff}\u{e01f0}-\u{e0fff}]/gu;
/** Persian, Indian and Mongolian names need joiners between letters, and some Indian ones at the end. */
const JOINERS =
	/(?<=[\p{L}\p{M}])([\u180e\u200c\u200d])[\u180e\u200c\u200d]*(?=[\p{L}\p{M}])|((?<=\p{M})\u200d)|[\u180e\u200c\u200d]/gu;
/** They choose the form of the letter before them, as in Japanese names. */
const LOST_SELECTORS =
	/(?<![\p{L}\p{M}])[\u034f\u180b-\u180d\u180f\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gu;

/** Characters that only the wrong encoding brings: the replacement character, noncharacters, half a character. */
const BROKEN = /[\ufffd\ufffe\uffff\p{Cs}]/u;
/** UTF-8 that was read as Windows-1252, such as `MÃ¼ller`: a capital that begins a character, and a sign that no name has there. */
const MISREAD =
	/[ÂÃÄÅÎÏÐÑØÙ][\u0080-\u009f¡-©«-\u00ad¯-´¶-¹¼-¿€‚ƒ„†‡ˆ‰‹›˜]|â€[œ™“”˜¦\u009d]|à[¤¥¦§]|×[\u0080-\u00bf]×/;
/** Windows-1252 that was read as Latin-1: its quotes and dashes, and letters such as Š, become control characters. */
const MISREAD_AS_LATIN_1 = /[\u0080-\u0084\u0086-\u009f]/;

/** What an expression or a template gives by mistake. `Null` and `Nan` are names. */
const SLIP =
	/\[object\b[^\]]*\]|\{\{|\}\}|%7b%7b|\$\{|\$(json|node|input|fromAI)\b|\$\(|<%|%>|\{%|%\}|^=[a-z.]+\(/i;
const SLIP_WORD = /(^|[\s,;("'[])(undefined|null|NaN)(?=$|[\s,;)"'\]])/;
/** What a spreadsheet shows in the place of a value, such as `#N/A` and `#REF!`. */
const SHEET_ERROR = /^#(\S*[!?]|N\/?[ADBV]|NV)$/i;

/**
 * The rules for all text: removes invisible characters and the spaces around the text.
 * @throws InputError for text that was damaged, or that an expression gave by mistake
 */
export function cleanText(value: string, displayName: string): string {
	if (BROKEN.test(value) || MISREAD.test(value)) throw damaged(value, displayName);
	if (MISREAD_AS_LATIN_1.test(value)) throw damaged(value, displayName, WINDOWS_1252);
	const text = value
		.replace(SPACES, (spaces) => (ODD_SPACE.test(spaces) ? ' ' : spaces))
		.replace(INVISIBLE, '')
		.replace(LOST_SELECTORS, '')
		.replace(JOINERS, '$1$2')
		.trim();
	if (SLIP.test(text) || SLIP_WORD.test(text) || SHEET_ERROR.test(text)) {
		throw new InputError(
			displayName,
			`is ${show(text)}, which comes from a mistake in an expression or a spreadsheet`,
			'Check the expression and the column that it reads. If there is no value, leave the field empty.',
		);
	}
	return text;
}

const WRONG_ENCODING =
	'The file was read in the wrong encoding. Save it as CSV UTF-8, or choose its encoding in the node that reads it.';
const WINDOWS_1252 =
	'The file is in Windows-1252, but was read as Latin-1. Save it as CSV UTF-8, or choose Windows-1252 as the encoding in the node that reads it.';

function damaged(text: string, displayName: string, advice = WRONG_ENCODING): InputError {
	return new InputError(displayName, `has damaged characters: ${show(text)}`, advice);
}

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

/** What people enter for "there is none". */
const NOTHING =
	/^(n\.?\s?[/\\]?\s?a\.?|k\.?\s?a(ng)?\.?|n\.?\s?v\.?\s?t\.?|0|x+|null|nil|nan|none|no|unknown|empty|missing|tb[ad]|not? (available|applicable|known|found|given|provided|linkedin|profile|url|website)|keine?s?( angaben?)?|nicht (vorhanden|bekannt)|unbekannt|aucune?|inconnue?|ninguno|desconocido|nessuno|geen|onbekend|brak)$/i;

/** The only one of them that can be no name: `N.A.` are initials. */
const NOT_APPLICABLE = /^n\s?\/\s?a\.?$/i;

/** Whether a text only says that there is no value, such as `N/A` or `-`. */
function isPlaceholder(text: string): boolean {
	return (
		NOTHING.test(text) || SHEET_ERROR.test(text) || (text !== '' && !/[\p{L}\p{N}]/u.test(text))
	);
}

// Names and places

/** A name, a place or a job title. @throws InputError for what cannot be one, such as `-` */
export function toWords(text: string, displayName: string): string {
	if (/[\p{L}\p{N}]/u.test(text) && !NOT_APPLICABLE.test(text)) return text;
	throw notA('text with letters or digits', text, displayName);
}

/** The name of a person. @throws InputError for what cannot be one, such as `-` or `123` */
export function toName(text: string, displayName: string): string {
	if (/\p{L}\?+\p{L}/u.test(text)) throw damaged(text, displayName);
	const isTemplate = /[{<][\p{L}_ .-]+[}>]|\*\||%[\p{L}_]+%/u.test(text);
	if (/\p{L}/u.test(text) && !isTemplate && !NOT_APPLICABLE.test(text)) return text;
	throw notA('a name', text, displayName);
}

function notA(what: string, text: string, displayName: string): InputError {
	return new InputError(
		displayName,
		`must be ${what}, but is ${show(text)}`,
		'If there is no value, leave the field empty.',
	);
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
	const isSlip = /\/(undefined|null|NaN)(\/|$)/.test(url?.pathname ?? '');
	if (
		!url ||
		!/^https?:$/.test(url.protocol) ||
		!isHost(url.hostname.replace(/\.$/, '')) ||
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

/** Whether an optional URL can be left out, because its text only says that there is none, such as `N/A`. */
export function saysNone(value: string): boolean {
	const text = value.replace(INVISIBLE, '').trim();
	return isPlaceholder(text) && !SLIP_WORD.test(text);
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

// Lists

/**
 * The values of a list: flattened, split at line breaks, cleaned, without blanks and duplicates. Text that is a JSON list is
 * a list, because AI agents send it so.
 */
export function toList(value: unknown, displayName: string): string[] {
	const values = entriesOf(value, displayName).map((text) => cleanText(text, displayName));
	const filled = values.filter((text) => text !== '').map((text) => toWords(text, displayName));
	return [...new Set(filled)];
}

/** @throws InputError for text that begins like a JSON list and is none */
export function entriesOf(value: unknown, displayName: string): string[] {
	if (Array.isArray(value)) return value.flatMap((each: unknown) => entriesOf(each, displayName));
	const text = toText(value, displayName);
	// It may be written over several lines.
	const json = text.replace(INVISIBLE, (mark) => (/\s/.test(mark) ? ' ' : '')).trim();
	if (/^(\[|\{|"([^"\\]|\\.)*"$)/.test(json)) {
		const parsed: unknown = jsonParse(json, { fallbackValue: null });
		if (Array.isArray(parsed) || typeof parsed === 'string') return entriesOf(parsed, displayName);
		throw new InputError(
			displayName,
			`must be a list, but is ${show(text)}`,
			'Enter one value in each field, or a list such as ["CTO", "CFO"].',
		);
	}
	const lines = text.split(/[\r\n\v\f\u0085\u2028\u2029]+/);
	return lines.length > 1 ? lines.flatMap((line) => entriesOf(line, displayName)) : lines;
}

/** A range as `<min>-<max>`. Also accepts `11 – 50` and `1,001-5,000`. Empty for a blank value. */
export function toRange(value: unknown, displayName: string): string {
	const text = cleanText(toText(value, displayName), displayName);
	const range = text.replace(/[\s,]/g, '').replace(/[–—]/, '-');
	const [, min, max] = /^(\d+)-(\d+)$/.exec(range) ?? [];
	if (range !== '' && (min === undefined || max === undefined || Number(min) > Number(max))) {
		throw new InputError(
			displayName,
			`must be a range written <min>-<max>, but is ${show(text)}`,
			'Enter a range such as 11-50.',
		);
	}
	return range;
}

// The parts of a name

/** Titles and forms of address; behind them may follow parts such as `rer. nat.`. */
const TITLES = words(
	'mr mrs ms miss mx sir dr drs dres prof profdr professor doctor doktor herr frau mme mlle monsieur madame dott dottssa dottore sra srta señor señora signor signora dipl univ priv mudr judr rndr phdr shri smt engr',
);
/** Titles only with a full stop, since they are names, too. */
const TITLES_WITH_STOP = words(
	'hr fr ing mag rev hon lic arq avv bc mgr ir adv capt col lt gen maj sgt sr',
);
/** Degrees and suffixes at the end of a name. */
const SUFFIXES = words(
	'jr sr ii iii iv esq mba emba phd dphil md dds dmd edd jd msc bsc meng beng llm llb cpa cfa pmp rn',
);
/** Degrees that look like initials where they have full stops. */
const DEGREES_LIKE_INITIALS = words(
	'ba ma bs ms be me pe rd do dc dba dvm dnp mph mpa mfa msw bba bfa lpc cfp phr csw bsn msn rph',
);
/** Words that belong to the last name behind them; the second list only in lower case. */
const PARTICLES = words(
	"van von vom zu zum zur der den de del della di da dal dei dos das du des la las los el al bin ibn bint ben ter santa 't",
);
const LOWER_PARTICLES = words('do le lo ten te af av san y e i');

function isParticle(word: string): boolean {
	return PARTICLES.has(word.toLowerCase()) || LOWER_PARTICLES.has(word);
}

/** Whether a word at the beginning can only belong to a last name. */
function isFirstParticle(word: string): boolean {
	return isParticle(word) && !/^(Al|Ben|Del|Della|Di|Santa)$/i.test(word);
}

function words(text: string): Set<string> {
	return new Set(text.split(' '));
}

/** A word in lower case without full stops: `Ph.D.` gives `phd`. */
function bare(word: string): string {
	return word.toLowerCase().replaceAll('.', '');
}

function isTitle(word: string): boolean {
	const [name = ''] = bare(word).split('-');
	return TITLES.has(name) || (word.endsWith('.') && TITLES_WITH_STOP.has(name));
}

/** Whether a part behind a comma is a suffix: only known words, or capitals behind a name in mixed case. */
function isSuffix(part: string, before: string): boolean {
	const isKnown = part.split(/[\s/&]+/).every((word) => SUFFIXES.has(bare(word)) || isTitle(word));
	const capitals = part.match(/\p{Lu}/gu)?.length ?? 0;
	const isShort =
		/^\p{Lu}[\p{L}\d.\s/&+-]*$/u.test(part) &&
		capitals > 1 &&
		capitals > (part.match(/\p{Ll}/gu)?.length ?? 0);
	return isKnown || (isShort && /\p{Ll}/u.test(before));
}

/** Whether a part behind a comma is the initials of a first name. */
function areInitials(part: string): boolean {
	const letters = bare(part).replace(/[\s-]/g, '');
	const isDegree = SUFFIXES.has(letters) || DEGREES_LIKE_INITIALS.has(letters);
	return /^(\p{Lu}\.[\s-]?){1,3}$/u.test(part) && !isDegree;
}

/** Whether the words before a comma are a last name: one word, apart from titles and particles. */
function isLastName(head: string): boolean {
	const tokens = head.trim().split(/\s+/);
	const begin = tokens.findIndex((word) => !isTitle(word) && !isFirstParticle(word));
	return begin === -1 || begin === tokens.length - 1;
}

/**
 * A name without titles, degrees, brackets, emoji and what follows a bar: `Prof. Dr. Ada Okafor, MBA` gives `Ada Okafor`.
 * @param isWhole whether the part behind a comma may be the first name
 */
export function plainName(name: string, isWhole = false): string {
	const plain = name
		.replace(/[\u{1d400}-\u{1d7ff}]/gu, (letter) => letter.normalize('NFKC'))
		.replace(/[([{（【][^()[\]{}（）【】]*[)\]}）】]|(?<=\s)["“”„][^"“”„]*["“”](?=\s)/gu, ' ')
		.replace(/[\p{Extended_Pictographic}\p{So}\p{RI}\p{Emoji_Modifier}\u{fe0f}\u{20e3}]/gu, ' ')
		.replace(/\s[|•].*$/su, '')
		.replace(/\b(dr|prof|mr|mrs|ms|dipl|mag)\.(?=\p{L})/giu, '$& ');
	const [head = '', ...others] = plain.split(/[,;]/).map((part) => part.trim());
	const isFirstName = isWhole && isLastName(head);
	const isSurplus = (part: string) =>
		!(isWhole && areInitials(part)) && isSuffix(part, isFirstName ? '' : head);
	const kept = others.filter((part) => part !== '' && !isSurplus(part));
	const tokens = head.split(/\s+/).filter((token) => token !== '');
	while (tokens.length > 1 && SUFFIXES.has(bare(tokens.at(-1) ?? ''))) tokens.pop();
	while (isTitle(tokens[0] ?? '')) {
		tokens.shift();
		while (/^\p{Ll}[\p{Ll}.]*\.$/u.test(tokens[0] ?? '')) tokens.shift();
	}
	return [tokens.join(' '), ...kept].join(', ').replace(/^, /, '').trim();
}

/** The first and the last name in a full name: `Okafor, Ada`, `Peter van der Berg` and `山田 太郎` have them in their own order. */
export function splitName(full: string): { firstName: string; lastName: string } {
	const name = plainName(full, true);
	const [last = '', first] = name.split(',').map((part) => part.trim());
	if (first !== undefined) return { firstName: plainName(first), lastName: last };
	const tokens = name.split(/\s+/);
	const [only = '', ...rest] = tokens;
	if (rest.length === 0) return { firstName: only, lastName: '' };
	if (/^[\p{scx=Han}\p{scx=Hangul}\p{scx=Hiragana}\p{scx=Katakana}\s]+$/u.test(name)) {
		return { firstName: rest.join(' '), lastName: only };
	}
	let begin = tokens.length - 1;
	const isJoined = () => isParticle(tokens[begin - 1] ?? '') || /^[yei]$/.test(tokens[begin] ?? '');
	while (begin > 1 && isJoined()) begin--;
	return { firstName: tokens.slice(0, begin).join(' '), lastName: tokens.slice(begin).join(' ') };
}
