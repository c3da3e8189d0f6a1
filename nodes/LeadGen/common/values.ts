/** What the nodes clean, and what they refuse because it can only be wrong and would be paid for: docs/values.md. */
import { InputError } from './errors';
import { jsonIn } from './json';

/** A number with its noun, such as "1 item" or "2 items". */
export function count(number: number, noun: string): string {
	return `${String(number)} ${noun}${number === 1 ? '' : 's'}`;
}

/** A value for an error message: short enough to read, and without markup, which n8n would show as such. */
export function show(value: unknown): string {
	if (value === undefined || value === '') return 'empty';
	// JSON has no functions and symbols.
	const text = (JSON.stringify(value) as string | undefined) ?? `a ${typeof value}`;
	const short = text.length > 80 ? `${text.slice(0, 77)}…` : text;
	return short.replaceAll('<', '‹').replaceAll('>', '›');
}

const IF_NONE = 'If there is no value, leave the field empty.';

/** The error for a value that must be something else. */
export function mustBe(what: string, value: unknown, displayName: string, advice = IF_NONE) {
	return new InputError(displayName, `must be ${what}, but is ${show(value)}`, advice);
}

/** The text of a value from an expression. A list, an object or a switch is a mistake in the expression. */
export function toText(value: unknown, displayName: string): string {
	// A longer text is a whole page or file, and to search it would hold up n8n.
	if (typeof value === 'string' && value.length <= 10_000) return value;
	if (value === null || value === undefined) return '';
	if (typeof value === 'number' && Number.isFinite(value)) return String(value);
	const what = typeof value === 'string' ? 'text of up to 10,000 characters' : 'text';
	const advice = 'Change the expression so that it returns a single text value.';
	throw new SlipError(displayName, `must be ${what}, but is ${show(value)}`, advice);
}

/** A value that is no value of any field, because an expression, a template or a file went wrong. */
export class SlipError extends InputError {}

/** Only a wrong encoding brings the replacement character, controls, and UTF-8 read as Windows-1252: `MÃ¼ller`. */
const WRONG_ENCODING = /[\ufffd\p{Cs}\u0080-\u009f]|[ÂÃÄÅÎÏÐÑØÙ][¡-¿ŒœŠšŽžŸƒˆ˜–-™]|â€/u;
const INVISIBLE = /[\p{Cc}\p{Default_Ignorable_Code_Point}]/gu;
/** Letters of other forms, as people decorate names, and as keyboards of other scripts write them: `𝗔𝗱𝗮`, `＠`. */
const OTHER_FORMS = /[\uff01-\uffee\u{1d400}-\u{1d7ff}]+/gu;
/** What expressions, templates and formulas leave without a value: `%FIRSTNAME%`, `[First Name]`. `Null` is a name. */
const SLIP =
	/[{}]|%7B|\$json\b|\[object |^=|(?<!\/in\/)\bundefined\b|(?<!\/in\/|[^\s,/@])(null|NaN)(?![^\s,/@?])|^NULL$|#(N\/A|[A-Z/0]+[!?])|%\w+%(?!\w)|^[[<]+[\w ]+[\]>]+$|^\$[A-Za-z_]\w*(?=[\s[(]|$)|\*\|/;

/** Text without invisible characters and needless spaces. @throws InputError for what is damaged, and for slips */
export function cleanText(value: unknown, displayName: string): string {
	const given = toText(value, displayName);
	if (WRONG_ENCODING.test(given)) throw damaged(given, displayName);
	const text = given
		.replace(/\s+/g, ' ')
		.replace(INVISIBLE, '')
		.replace(OTHER_FORMS, (letters) => letters.normalize('NFKC'))
		.trim();
	if (!SLIP.test(text)) return text;
	const problem = `is ${show(text)}: an expression or cell seems to have no value`;
	const advice = `Check the expression and the column that it reads. ${IF_NONE}`;
	throw new SlipError(displayName, problem, advice);
}

function damaged(text: string, displayName: string) {
	const advice =
		'The file was read in the wrong encoding, or holds HTML codes. Save it as CSV UTF-8, or choose its encoding in the node that reads it.';
	return new SlipError(displayName, `has damaged characters: ${show(text)}`, advice);
}

/** How people and exports write that there is no value, or that it is hidden. */
const NONE =
	/^[([]?(none|unknown|n\s?\/\s?a|n\.\s?a\.?|locked|hidden|((e-?mail|name) )?not (available|found|provided|set|specified|unlocked)|no (e-?mail|name|linkedin|profile|website)|keine angabe|k\.\s?a\.)[)\]]?$/i;

/** Whether a text only says that there is no value, such as `N/A` or `-`. */
export function saysNone(value: unknown): boolean {
	const text = typeof value === 'string' ? value.trim() : '';
	return NONE.test(text) || /^(NULL|#N\/A|[^\p{L}\p{N}]+)$/u.test(text);
}

/** Letters that a file lost, or that HTML writes as codes: `M?ller`, `O&#39;Brien`. */
const LOST_LETTERS = /\p{L}\?+\p{L}|&#?\w{2,8};/u;
/** Letters that are hidden or cut off: `j***@acme.com`, `Ada O…`. */
export const MASKED = /[*•█]{2}|…|\.{3}/;

/** A name, a place or a job title. @throws InputError for what cannot be one, such as `-` */
export function toWords(text: string, displayName: string): string {
	if (LOST_LETTERS.test(text)) throw damaged(text, displayName);
	if (saysNone(text) || MASKED.test(text)) throw mustBe('a real value', text, displayName);
	return text;
}

/** What is in the column of a name by mistake: "LinkedIn Member", "Ada's profile", an address, a date, a company. */
const NO_NAME =
	/linked ?in|\bprofile\b|\*|\S@\S|https?:|www\.|\d[./:-]\d|^[^,;/]+ (?:team|department|support|helpdesk|gmbh|ltda?|llc|llp|inc|s\.?r\.?l|s\.p\.a|sarl|pty|plc)\.?$/i;
/** Nobody, or the header of a column. `Na` is a name. */
const NOBODY =
	/^(?:(?:private|unknown|none|anonym\p{L}*|no (?:last|first) ?name)(?: \p{L}+)?|test (?:test|user)|tb[acd]|(?:\s?(?:(?:first|last|full|given|family|middle|fore|sur|contact|person|your|vor|nach|familien|nick)[ _-]?)?names?)+|f_?name|l_?name|prénom|prenom|apellidos?|cognome|sobrenome|apelido|(?:voor|achter)naam|(?:för|efter)namn|(?:for|etter|efter)navn|nazwisko|příjmení|soyadı?|фамилия|info|admin|(?:hiring|office) manager|accounts (?:payable|receivable)|customer (?:service|care)|human resources|unbekannt|desconocid[oa]|inconnue?|n[ãa]o informado|не указано|担当者)$/iu;

/** The name of a person. @throws InputError for what cannot be one, such as `-` or `123` */
export function toName(text: string, displayName: string): string {
	const isNobody = NO_NAME.test(text) || NOBODY.test(text) || /^(na|NA)$|^\P{L}*$/u.test(text);
	if (isNobody) throw mustBe('a name', text, displayName);
	return toWords(text, displayName);
}

/** The values of a list: cleaned, without blanks and duplicates. */
export function toList(value: unknown, displayName: string): string[] {
	const texts = entriesOf(value, displayName).map((text) => cleanText(text, displayName));
	return [...new Set(texts.filter((text) => text).map((text) => toWords(text, displayName)))];
}

/** The texts of a list, of the lines of a text, or of a JSON list as text, because AI agents send it so. */
export function entriesOf(value: unknown, displayName: string): string[] {
	const list = jsonIn(value);
	if (Array.isArray(list)) return list.flatMap((each: unknown) => entriesOf(each, displayName));
	const text = toText(value, displayName);
	if (!/^\s*\[/.test(text)) return text.split(/[\r\n]+/);
	const advice = 'Enter one value in each field, or a list such as ["CTO", "CFO"].';
	throw mustBe('a list', text, displayName, advice);
}
