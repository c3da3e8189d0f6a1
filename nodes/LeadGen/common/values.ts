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

// All text

/** A longer one is no value but a file in a cell, and to search it would hold up n8n. */
const MAX_TEXT = 10_000;

/** The text of a value from an expression. A list, an object or a switch is a mistake in the expression. */
export function toText(value: unknown, displayName: string): string {
	if (typeof value === 'string') return notLonger(value, MAX_TEXT, displayName);
	if (value === null || value === undefined) return '';
	if (typeof value === 'number' && Number.isFinite(value)) return String(value);
	throw new InputError(
		displayName,
		`must be text, but is ${show(value)}`,
		'Change the expression so that it returns a single text value.',
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

/** What an expression, a template or a formula gives by mistake. `Null` and `Nan` are names. */
const SLIP =
	/\[object \w{1,40}\]|\{\{|\}\}|%7b%7b|\$\{|\$(json|node|input|fromAI)\b|\$\(|<%|%>|\{%|%\}|[{<][\p{L}_$][\p{L}\p{N}_ -]*[}>]|\*\||^=|#(REF|NAME|VALUE|DIV\/0|NUM|NULL|N\/A|CALC|SPILL|LOADING)\b/iu;
const SLIP_WORD = /(^|[\s,;("'[])(undefined|null|NaN)(?=$|[\s,;)"'\]])/;
/** What a spreadsheet or a database writes in the place of a value, such as `#N/A`, `#REF!` and `NULL`. */
const NO_VALUE = /^(#(\S*[!?]|[Nn]\/?[ABDVabdv])|Err:\d{3}|NULL|\\N)$/;

/**
 * The rules for all text: removes invisible characters and the spaces around the text.
 * @throws InputError for text that was damaged, or that an expression gave by mistake
 */
export function cleanText(value: unknown, displayName: string): string {
	const given = toText(value, displayName);
	if (BROKEN.test(given) || MISREAD.test(given)) throw damaged(given, displayName);
	if (MISREAD_AS_LATIN_1.test(given)) throw damaged(given, displayName, WINDOWS_1252);
	const text = given
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

/** What stands for letters or a rest that the reader may not see, such as `j***@acme.com` and `Smith…`. */
export const MASKED = /[*•●∙█▪■…]|[.·]{3}/;

/** What people and services enter for "there is none", or that it is hidden, in words that are no name. */
const NO_NAME =
	/^[([]?(n\s?\/\s?a\.?|((e-?mail|name|contact|is|are) )*(not |un(?!known)|no )(yet )?(un)?(locked|available|applicable|known|found|given|provided|set|specified|disclosed|listed|visible|verified)|locked|hidden|redacted|masked|confidential|anonymous|e-?mail protected|no (e-?mail|name|data|value|linkedin|profile|url|website)|tb[ad]|keine?s? angaben?|nicht (vorhanden|bekannt|verfügbar)|unbekannt|inconnue?|desconocid[oa]|sconosciut[oa]|onbekend)[)\]]?$/i;
/** The same in words that may be a name: `N.A.` are initials. */
const NOTHING =
	/^\(?(n\.?\s?\\?\s?a\.?|k\.?\s?a(ng)?\.?|n\.?\s?v\.?\s?t\.?|0|x+|null|nil|nan|none|no|unknown|empty|blank|missing|private|keine?s?|aucune?|ninguno|nessuno|geen|brak)\)?$/i;

/** Whether a text only says that there is no value, such as `N/A` or `-`. */
export function isPlaceholder(text: string): boolean {
	const isNone = [NOTHING, NO_NAME, NO_VALUE].some((way) => way.test(text));
	return isNone || (text !== '' && !/[\p{L}\p{N}]/u.test(text));
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

const MAX_WORDS = 500;

/** What is no name, place or title: masked letters, a placeholder, a date, a file that is still read. */
const NO_WORDS =
	/[*•●∙█▪■]{2}|[_#]{3}|x{4}|(…|\.{3})$|%[\p{L}_]{3,}%|%20|%c[2-9a-f]%|^\[[^\]]*\]$|\.(png|jpe?g|gif|svg|webp|pdf|docx?|xlsx?|csv|html?)$|\d{4}-\d\d-\d\d|^\d{1,2}[./]\d{1,2}[./]\d{2,4}$|^(loading|please wait|wird geladen|chargement|cargando|carregando|caricamento)\b/iu;

/** A name, a place or a job title. @throws InputError for what cannot be one, such as `-` */
export function toWords(text: string, displayName: string): string {
	notLonger(text, MAX_WORDS, displayName);
	if (HTML.test(text)) throw damaged(text, displayName, IS_HTML);
	const isNone = NO_WORDS.test(text) || NO_NAME.test(text) || HEADER.test(text);
	if (/[\p{L}\p{N}]/u.test(text) && !isNone) return text;
	throw notA('text with letters or digits', text, displayName);
}

/** The name of a column, in many languages: the header of a file that was read as a row. */
const HEADER =
	/^((((first|last|full|given|family|middle|sur|fore|nick|contact|company|person|lead|client|customer|display)[ _-]?)?names?|(vor- und )?(vor|nach|familien|zu)namen?|[fl]name|pr[eé]noms?|noms?( de famille| complet)?|nombres?( completo)?|apellidos?|nome( completo)?|sobrenome|cognome|voorna(am|men)|achternaam|f[öo]rnamn|efternamn|fornavn|etternavn|efternavn|imi[eę]|nazwisko|etunimi|sukunimi|jméno|příjmení|keresztnév|vezetéknév|soyad[iı]?|имя|фамилия|ім[’']я|прізвище|όνομα|επώνυμο|姓|名前|氏名|姓名|이름|성명|e-?mail( address)?|(job )?title|position|location|country|ort|stadt|standort|industry|industries|linkedin( url)?)[ ,;:|/_-]{0,3}){1,3}$/iu;

const MONTH =
	'(jan|feb|f[eé]v|m[aä]r|mrz|a[pvb]r|ma[iyjg]|ju[nli]|giu|lug|aug|ago|ao[uû]|sep|set|o[ckt]t|out|nov|de[czs]|dic|déc)';
/** What a name column may hold that names nobody: a page of LinkedIn, an address, a handle, a date, a number. */
const NOBODY = new RegExp(
	[
		'linked[ -]?in|领英|링크드인|リンクトイン|\\b(profile?|profil[os]|perfil|profiel|profilbild)\\b|\\bis (on|off)line\\b|^\\d+(st|nd|rd|th)\\b',
		'\\b(facebook|instagram|xing|google|twitter|deleted|former|private|unknown|anonymous) (user|member|account)\\b',
		'\\S@\\S|^[@+$]|https?:|www\\.|^\\{.*\\}$|[{<][\\p{L}_ .-]+[}>]|\\[[^\\]]*(name|nom|apellido)[^\\]]*\\]',
		'\\*|\\p{L}[•●█]|^x{2,}$|…|\\.{3}',
		`\\d{1,2}[./-]\\d{1,2}[./-]\\d{2,4}|\\d:\\d\\d|^\\d{1,2}[-. ]+${MONTH}|\\b${MONTH}\\p{L}*[-. ,]+\\d|^\\d[\\d.,]*e[+-]?\\d+$`,
	].join('|'),
	'iu',
);

/** The name of a person. @throws InputError for what cannot be one, such as `-` or `123` */
export function toName(text: string, displayName: string): string {
	notLonger(text, MAX_WORDS, displayName);
	if (/\p{L}\?+\p{L}/u.test(text)) throw damaged(text, displayName);
	if (NOBODY.test(text) || !/\p{L}/u.test(text)) throw notA('a name', text, displayName);
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
	const text = cleanText(value, displayName);
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
