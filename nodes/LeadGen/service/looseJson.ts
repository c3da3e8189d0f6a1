/** A deeper value would end n8n when it saves the execution. */
const MAX_DEPTH = 100;

/** To repair a longer text would hold up everything else in the process; and to look for long numbers in a valid one. */
const MAX_REPAIRED = 100_000;
const MAX_EXACT = 1_000_000;

/** With this, some services keep scripts from running their answers. */
const PREFIX = /^(\)\]\}'?,?|while ?\(1\);|for ?\(;;\);)\s*/;

/**
 * A text; a comma at the end of an object or list; a word or number. A text may lack its end: to look for
 * the end of each one again would take very long.
 */
const TOKEN = /("[^"\\]*(?:\\.[^"\\]*)*"?)|(,)(?=\s*[}\]])|[-+.\w]+/gs;

/** JavaScript would round a number of so many digits, which would be the ID of something else. */
export const MANY_DIGITS = /[:,[]\s*-?\d{16}/;

/**
 * The value of a JSON text. Also reads what can only be meant in one way: `NaN` and other words for no number, fractions
 * such as `.5`, commas at the end of a list, line breaks in a text, and JSON within a text or within a list of one. A
 * whole number that JavaScript would round becomes a text. A long text is only parsed.
 * @returns undefined for anything else, and for a value that is nested too deeply
 */
export function parseLoosely(text: string): unknown {
	const value = read(text);
	const [only] = Array.isArray(value) && value.length === 1 ? (value as unknown[]) : [value];
	const inner = typeof only === 'string' ? read(only) : only;
	return isShallow(inner, MAX_DEPTH) ? inner : undefined;
}

function read(text: string): unknown {
	const value = parse(text);
	const isWhole = value !== undefined;
	if (text.length > (isWhole ? MAX_EXACT : MAX_REPAIRED)) return value;
	return isWhole && !MANY_DIGITS.test(text) ? value : (parse(text, repaired) ?? value);
}

/** @param repair fails for a text that is very long */
function parse(text: string, repair = (json: string) => json): unknown {
	try {
		return JSON.parse(repair(text));
	} catch {
		return undefined;
	}
}

function repaired(text: string): string {
	// `trim` also removes a byte order mark.
	const json = text.replaceAll('\0', ' ').trim().replace(PREFIX, '');
	if (!/^[[{"]/.test(json)) return json;
	return json.replace(TOKEN, (token: string, string?: string, comma?: string) => {
		if (string !== undefined) return string.replace(/\p{Cc}/gu, escaped);
		if (comma !== undefined) return '';
		if (/^([-+]?(NaN|Infinity)|undefined)$/.test(token)) return 'null';
		if (/^-?\.\d+$/.test(token)) return String(Number(token));
		const isRounded = /^-?\d{16,}$/.test(token) && String(Number(token)) !== token;
		return isRounded ? JSON.stringify(token) : token;
	});
}

function escaped(character: string): string {
	return JSON.stringify(character).slice(1, -1);
}

function isShallow(value: unknown, depth: number): boolean {
	if (typeof value !== 'object' || value === null) return true;
	return depth > 0 && Object.values(value).every((each) => isShallow(each, depth - 1));
}
