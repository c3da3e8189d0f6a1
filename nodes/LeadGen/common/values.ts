/**
 * Every rule for the values that a user enters, here and in `addresses` and `names`: what the node cleans, and what it
 * refuses because it can only be wrong and would be paid for. docs/values.md explains the rules.
 */
import { jsonParse } from 'n8n-workflow';
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

/** A value for an error message: short enough to read, and without markup, which n8n would show as such. */
export function show(value: unknown): string {
	if (value === undefined) return 'empty';
	// JSON has no functions and symbols.
	const json = JSON.stringify(value) as string | undefined;
	const text = json ?? `a ${typeof value}`;
	const short = text.length > 80 ? `${text.slice(0, 77)}…` : text;
	return short.replaceAll('<', '‹').replaceAll('>', '›');
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
	/[ÂÃÄÅÎÏÐÑØÙ][\u0080-\u009f¡-©«-\u00ad¯-´¶-¹¼-¿€‚ƒ„†‡ˆ‰‹›˜]|[ÃÅ][œŒŸžŽšŠ™–…•]|[ÃÅ][‘’“”](?=\p{L})|â€[œ™“”˜¦\u009d]|à[¤¥¦§]|×[\u0080-\u00bf]×/u;
/** Windows-1252 that was read as Latin-1: its quotes and dashes, and letters such as Š, become control characters. */
const MISREAD_AS_LATIN_1 = /[\u0080-\u0084\u0086-\u009f]/;

/** What an expression or a template gives by mistake. `Null` and `Nan` are names. */
const SLIP =
	/\[object\b[^\]]*\]|\{\{|\}\}|%7b%7b|\$\{|\$(json|node|input|fromAI)\b|\$\(|<%|%>|\{%|%\}|^=[a-z.]+\(/i;
const SLIP_WORD = /(^|[\s,;("'[])(undefined|null|NaN)(?=$|[\s,;)"'\]])/;
/** What a spreadsheet or a database writes in the place of a value, such as `#N/A`, `#REF!` and `NULL`. */
const NO_VALUE = /^(#(\S*[!?]|[Nn]\/?[ABDVabdv])|NULL|\\N)$/;

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
	if (SLIP.test(text) || SLIP_WORD.test(text) || NO_VALUE.test(text)) {
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

/** What people enter for "there is none". */
const NOTHING =
	/^(n\.?\s?[/\\]?\s?a\.?|k\.?\s?a(ng)?\.?|n\.?\s?v\.?\s?t\.?|0|x+|null|nil|nan|none|no|unknown|empty|missing|tb[ad]|not? (available|applicable|known|found|given|provided|linkedin|profile|url|website)|keine?s?( angaben?)?|nicht (vorhanden|bekannt)|unbekannt|aucune?|inconnue?|ninguno|desconocido|nessuno|geen|onbekend|brak)$/i;

/** The only one of them that can be no name: `N.A.` are initials. */
const NOT_APPLICABLE = /^n\s?\/\s?a\.?$/i;

/** Whether a text only says that there is no value, such as `N/A` or `-`. */
export function isPlaceholder(text: string): boolean {
	return NOTHING.test(text) || NO_VALUE.test(text) || (text !== '' && !/[\p{L}\p{N}]/u.test(text));
}

/** Whether an optional value can be left out, because its text only says that there is none, such as `N/A`. */
export function saysNone(value: string): boolean {
	const text = value.replace(INVISIBLE, '').trim();
	return isPlaceholder(text) && !SLIP_WORD.test(text);
}

// Names and places

/** Characters as HTML writes them, such as `&#39;`. */
const HTML = /&(#\d+|#x[\da-f]+|[a-z]{2,8});/i;
const IS_HTML =
	'The file holds HTML codes. Before this node, replace them with the characters that they stand for.';

/** A name, a place or a job title. @throws InputError for what cannot be one, such as `-` */
export function toWords(text: string, displayName: string): string {
	if (HTML.test(text)) throw damaged(text, displayName, IS_HTML);
	if (/[\p{L}\p{N}]/u.test(text) && !NOT_APPLICABLE.test(text)) return text;
	throw notA('text with letters or digits', text, displayName);
}

/** The name of a person. @throws InputError for what cannot be one, such as `-` or `123` */
export function toName(text: string, displayName: string): string {
	if (/\p{L}\?+\p{L}/u.test(text)) throw damaged(text, displayName);
	// A template, or an email address in the wrong column.
	const isOther = /[{<][\p{L}_ .-]+[}>]|\*\||%[\p{L}_]+%|\S@\S/u.test(text);
	if (isOther || !/\p{L}/u.test(text)) throw notA('a name', text, displayName);
	return toWords(text, displayName);
}

function notA(what: string, text: string, displayName: string): InputError {
	return new InputError(
		displayName,
		`must be ${what}, but is ${show(text)}`,
		'If there is no value, leave the field empty.',
	);
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
