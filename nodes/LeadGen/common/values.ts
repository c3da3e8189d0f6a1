/**
 * Every rule for the values that a user enters, here and in `addresses` and `names`: what the node cleans, and what it
 * refuses because it can only be wrong and would be paid for. docs/values.md explains the rules.
 */
import { jsonParse } from 'n8n-workflow';
import { InputError } from './errors';

/** A number with its noun, such as "1 item" or "2 items". */
export function count(number: number, noun: string): string {
	return `${String(number)} ${noun}${number === 1 ? '' : 's'}`;
}

/** A value for an error message: short enough to read, and without markup, which n8n would show as such. */
export function show(value: unknown): string {
	if (value === undefined) return 'empty';
	// JSON has no functions and symbols.
	const text = (JSON.stringify(value) as string | undefined) ?? `a ${typeof value}`;
	const short = text.length > 80 ? `${text.slice(0, 77)}…` : text;
	return short.replaceAll('<', '‹').replaceAll('>', '›');
}

/** The error for a value that must be something else. */
export function mustBe(
	what: string,
	value: unknown,
	displayName: string,
	advice = 'If there is no value, leave the field empty.',
): InputError {
	return new InputError(
		displayName,
		`must be ${what}, but is ${value === '' ? 'empty' : show(value)}`,
		advice,
	);
}

/** @throws InputError for a text that is longer */
export function notLonger(text: string, most: number, displayName: string): string {
	if (text.length <= most) return text;
	throw new InputError(
		displayName,
		`is longer than ${most.toLocaleString('en')} characters`,
		'Check the expression and the column that it reads. It may hold the text of a whole page or file.',
	);
}

/** A longer text is no value but a file in a cell, and to search it would hold up n8n. */
const MAX_TEXT = 10_000;

/** The text of a value from an expression. A list, an object or a switch is a mistake in the expression. */
export function toText(value: unknown, displayName: string): string {
	if (typeof value === 'string') return notLonger(value, MAX_TEXT, displayName);
	if (value === null || value === undefined) return '';
	if (typeof value === 'number' && Number.isFinite(value)) return String(value);
	const advice = 'Change the expression so that it returns a single text value.';
	throw mustBe('text', value, displayName, advice);
}

/** Joiners stay behind the letters of scripts that need them, such as Persian and Hindi. */
const INVISIBLE =
	/(?!(?<=(?!\p{ASCII})[\p{L}\p{M}])[\u200c\u200d])[\p{Cc}\p{Default_Ignorable_Code_Point}]/gu;

/** The text that a reader sees. */
function visible(text: string): string {
	return text.replace(/\s+/g, ' ').replace(INVISIBLE, '').trim();
}

/** Only a wrong encoding brings the replacement character, controls, and UTF-8 read as Windows-1252: `MÃ¼ller`. */
const WRONG_ENCODING = /[\ufffd\p{Cs}\u0080-\u009f]|[ÂÃÄÅÎÏÐÑØÙ][¡-¿ŒœŠšŽžŸƒˆ˜–-™]|â€/u;
/** What an expression, a template, a formula or an export leaves where it has no value. `Null` and `Nan` are names. */
const SLIP =
	/[{}]|\$(json|node|input|fromAI)\b|\$\(|\[object |^=|\bundefined\b|(?<![^\s,/@])(null|NaN)(?![^\s,/@?])|#([A-Z/0]+[!?]|N\/A|NV\b)|^NULL$/;

/**
 * The rules for all text: removes invisible characters and needless spaces.
 * @throws InputError for text that was damaged, or that an expression gave by mistake
 */
export function cleanText(value: unknown, displayName: string): string {
	const given = toText(value, displayName);
	if (WRONG_ENCODING.test(given)) throw damaged(given, displayName);
	const text = visible(given);
	if (SLIP.test(text)) {
		throw new InputError(
			displayName,
			`is ${show(text)}: an expression or cell seems to have no value`,
			'Check the expression and the column that it reads. If there is no value, leave the field empty.',
		);
	}
	return text;
}

function damaged(text: string, displayName: string): InputError {
	return new InputError(
		displayName,
		`has damaged characters: ${show(text)}`,
		'The file was read in the wrong encoding, or holds HTML codes. Save it as CSV UTF-8, or choose its encoding in the node that reads it.',
	);
}

/** "There is none" or "it is hidden", in words that are no name. */
const NONE =
	/^[([]?(n\s?\/\s?a|locked|hidden|redacted|unavailable|((e-?mail|name) )?not (yet )?(available|applicable|known|found|given|provided|set|specified|disclosed|unlocked)|no (e-?mail|name|data|value|linkedin|profile|url|website)|keine angabe|unbekannt)[)\]]?$/i;
/** The same in words that may be a name: `N.A.` are initials. */
const NOTHING = /^([nN]\.?\s?[aA]\.?|[kK]\.\s?[aA]\.|[nN]one|[nN]o|[uU]nknown|NULL|#\S+)$/;

/** Whether an optional value can be left out, because its text only says that there is none, such as `N/A` or `-`. */
export function saysNone(value: string): boolean {
	const text = visible(value);
	return [NONE, NOTHING, /^[^\p{L}\p{N}]+$/u].some((none) => none.test(text));
}

/** Letters that are hidden or cut off, and placeholders such as `<name>`, `[name]` and `%NAME%`. */
const NO_WORDS = /[*•█]{2}|(…|\.{3})$|<[^<>]*>|^\[.*\]$|%\w+%/;
/** Characters as HTML writes them, such as `&#39;`. */
const HTML = /&#?\w{2,8};/;
/** What is in the column of a name by mistake: "LinkedIn Member", "View Ada's profile", an address, a date, a time. */
const NO_NAME = /linked ?in|\bprofile\b|\*|\S@\S|https?:|www\.|\d[./:-]\d/i;

const MAX_WORDS = 500;

/** A name, a place or a job title. @throws InputError for what cannot be one, such as `-` */
export function toWords(text: string, displayName: string): string {
	notLonger(text, MAX_WORDS, displayName);
	if (HTML.test(text)) throw damaged(text, displayName);
	if (/[\p{L}\p{N}]/u.test(text) && !NO_WORDS.test(text) && !NONE.test(text)) return text;
	throw mustBe('a real value', text, displayName);
}

/** The name of a person. @throws InputError for what cannot be one, such as `-` or `123` */
export function toName(text: string, displayName: string): string {
	if (/\p{L}\?+\p{L}/u.test(text)) throw damaged(text, displayName);
	if (NO_NAME.test(text) || !/\p{L}/u.test(text)) throw mustBe('a name', text, displayName);
	return toWords(text, displayName);
}

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
	const json = visible(text);
	if (/^(\[|\{|"[^"]*"$)/.test(json)) {
		const parsed: unknown = jsonParse(json, { fallbackValue: null });
		if (Array.isArray(parsed) || typeof parsed === 'string') return entriesOf(parsed, displayName);
		const advice = 'Enter one value in each field, or a list such as ["CTO", "CFO"].';
		throw mustBe('a list', text, displayName, advice);
	}
	const lines = text.split(/[\r\n]+/);
	return lines.length > 1 ? lines.flatMap((line) => entriesOf(line, displayName)) : lines;
}

/** A range as `<min>-<max>`. Also accepts `11 – 50` and `1,001-5,000`. Empty for a blank value. */
export function toRange(value: unknown, displayName: string): string {
	const text = cleanText(value, displayName);
	const range = text.replace(/[\s,]/g, '').replace(/[–—]/, '-');
	const [, min, max] = /^(\d+)-(\d+)$/.exec(range) ?? [];
	if (range === '' || Number(min) <= Number(max)) return range;
	throw mustBe('a range written <min>-<max>', text, displayName, 'Enter a range such as 11-50.');
}
