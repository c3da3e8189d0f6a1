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

/** An ideographic space stays, because names contain it. */
const SPACES = /(?:[^\S\u3000]|\u0085)+/g;
/** Joiners between letters and at the end of some, and signs that choose the form of a letter. Names need them. */
const IN_NAMES =
	'(?<=[\\p{L}\\p{M}])(?:[\\u180e\\u200c\\u200d](?=[\\p{L}\\p{M}])|[\\u034f\\u180b-\\u180d\\u180f\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}])|(?<=\\p{M})\\u200d';
const INVISIBLE = new RegExp(
	`(?!${IN_NAMES})[\\p{Cc}\\p{Default_Ignorable_Code_Point}\\u2800\\ufff9-\\ufffc]`,
	'gu',
);

/** The text that a reader sees. */
function visible(text: string): string {
	return text.replace(SPACES, ' ').replace(INVISIBLE, '').trim();
}

/** Characters that only the wrong encoding brings. Windows-1252 that is read as Latin-1 gives control characters. */
const BROKEN = /[\ufffd\ufffe\uffff\p{Cs}\u0080-\u0084\u0086-\u009f]/u;
/** UTF-8 that was read as Windows-1252, such as `MÃ¼ller`: a capital that begins a character, and a sign that no name has there. */
const MISREAD =
	/[ÂÃÄÅÎÏÐÑØÙ][\u0080-\u009f¡-©«-\u00ad¯-´¶-¹¼-¿€‚ƒ„†‡ˆ‰‹›˜]|[ÃÅ][œŒŸžŽšŠ™–…•]|[ÃÅ][‘’“”](?=\p{L})|â€[œ™“”˜¦\u009d]|à[¤¥¦§]|×[\u0080-\u00bf]×/u;
/** What an expression, a template or a formula gives by mistake. `Null` and `Nan` are names. */
const SLIP =
	/\[object \w{1,40}\]|\{\{|\}\}|%7b%7b|\$\{|\$(json|node|input|fromAI)\b|\$\(|<%|%>|\{%|%\}|[{<][\p{L}_$][\p{L}\p{N}_ -]*[}>]|\*\||^=|#(REF|NAME|VALUE|DIV\/0|NUM|NULL|N\/A|CALC|SPILL|LOADING)\b/iu;
const SLIP_WORD = /(^|[\s,;("'[])(undefined|null|NaN)(?=$|[\s,;)"'\]])/;
/** What a spreadsheet or a database writes in the place of a value, such as `#N/A`, `#REF!` and `NULL`. */
const NO_VALUE = /^(#(\S*[!?]|[Nn]\/?[ABDVabdv])|Err:\d{3}|NULL|\\N)$/;

/**
 * The rules for all text: removes invisible characters and needless spaces.
 * @throws InputError for text that was damaged, or that an expression gave by mistake
 */
export function cleanText(value: unknown, displayName: string): string {
	const given = toText(value, displayName);
	if (BROKEN.test(given) || MISREAD.test(given)) throw damaged(given, displayName);
	const text = visible(given);
	if (SLIP.test(text) || SLIP_WORD.test(text) || NO_VALUE.test(text)) {
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

/** What stands for letters or a rest that the reader may not see, such as `j***@acme.com` and `Smith…`. */
export const MASKED = /[*•●∙█▪■…]|[.·]{3}/;

/** What people and services enter for "there is none", or that it is hidden, in words that are no name. */
const NO_NAME =
	/^[([]?(n\s?\/\s?a\.?|((e-?mail|name|contact|is|are) )*(not |un(?!known)|no )(yet )?(un)?(locked|available|applicable|known|found|given|provided|set|specified|disclosed|listed|visible|verified)|locked|hidden|redacted|masked|confidential|anonymous|e-?mail protected|no (e-?mail|name|data|value|linkedin|profile|url|website)|tb[ad]|keine?s? angaben?|nicht (vorhanden|bekannt|verfügbar)|unbekannt|inconnue?|desconocid[oa]|sconosciut[oa]|onbekend)[)\]]?$/i;
/** The same in words that may be a name: `N.A.` are initials. */
const NOTHING =
	/^\(?(n\.?\s?\\?\s?a\.?|k\.?\s?a(ng)?\.?|n\.?\s?v\.?\s?t\.?|0|x+|null|nil|nan|none|no|unknown|empty|blank|missing|private|keine?s?|aucune?|ninguno|nessuno|geen|brak)\)?$/i;

/** Whether an optional value can be left out, because its text only says that there is none, such as `N/A` or `-`. */
export function saysNone(value: string): boolean {
	const text = visible(value);
	const isNone = [NOTHING, NO_NAME, NO_VALUE].some((way) => way.test(text));
	return (isNone && !SLIP_WORD.test(text)) || (text !== '' && !/[\p{L}\p{N}]/u.test(text));
}

/** Characters as HTML writes them, such as `&#39;`. */
const HTML = /&(#\d+|#x[\da-f]+|[a-z]{2,8});/i;
const MAX_WORDS = 500;
/** What is no name, place or title: masked letters, a placeholder, a date, a file that is still read. */
const NO_WORDS =
	/[*•●∙█▪■]{2}|[_#]{3}|x{4}|(…|\.{3})$|%[\p{L}_]{3,}%|%20|%c[2-9a-f]%|^\[[^\]]*\]$|\.(png|jpe?g|gif|svg|webp|pdf|docx?|xlsx?|csv|html?)$|\d{4}-\d\d-\d\d|^\d{1,2}[./]\d{1,2}[./]\d{2,4}$|^(loading|please wait|wird geladen|chargement|cargando|carregando|caricamento)\b/iu;

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

/** A name, a place or a job title. @throws InputError for what cannot be one, such as `-` */
export function toWords(text: string, displayName: string): string {
	notLonger(text, MAX_WORDS, displayName);
	if (HTML.test(text)) throw damaged(text, displayName);
	const isNone = [NO_WORDS, NO_NAME, HEADER].some((way) => way.test(text));
	if (/[\p{L}\p{N}]/u.test(text) && !isNone) return text;
	throw mustBe('text with letters or digits', text, displayName);
}

/** The name of a person. @throws InputError for what cannot be one, such as `-` or `123` */
export function toName(text: string, displayName: string): string {
	notLonger(text, MAX_WORDS, displayName);
	if (/\p{L}\?+\p{L}/u.test(text)) throw damaged(text, displayName);
	if (NOBODY.test(text) || !/\p{L}/u.test(text)) throw mustBe('a name', text, displayName);
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
	if (/^(\[|\{|"([^"\\]|\\.)*"$)/.test(json)) {
		const parsed: unknown = jsonParse(json, { fallbackValue: null });
		if (Array.isArray(parsed) || typeof parsed === 'string') return entriesOf(parsed, displayName);
		const advice = 'Enter one value in each field, or a list such as ["CTO", "CFO"].';
		throw mustBe('a list', text, displayName, advice);
	}
	const lines = text.split(/[\r\n\v\f\u0085\u2028\u2029]+/);
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
