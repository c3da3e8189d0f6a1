/** Characters that break or reverse a line of a log, or that a terminal obeys. */
const CONTROL = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu;

const MAX_LENGTH = 500;

/** The beginning of a text, with a sign that it goes on. */
export function beginning(text: string, length: number): string {
	if (text.length <= length) return text;
	// Half of a character that consists of two code units would be left.
	return `${text.slice(0, length).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** A text of the service for an error message or a log: short, on one line, and without markup. */
export function excerpt(text: string): string {
	const line = beginning(text, MAX_LENGTH).replace(CONTROL, ' ').replace(/ {2,}/g, ' ').trim();
	return line.replaceAll('<', '‹').replaceAll('>', '›');
}

/** What stands in place of the key, as in n8n's own output. */
const HIDDEN = '**hidden**';
/** A shorter key is not one that a service gives out, and its text may mean something else. */
const MIN_KEY_LENGTH = 8;

/** Returns a function that removes the key from a text, also as JSON or an address contains it. */
export function keyRemover(key: string): (text: string) => string {
	if (key.length < MIN_KEY_LENGTH) return (text) => text;
	const inJson = JSON.stringify(key).slice(1, -1);
	// Some languages also escape slashes in JSON.
	const spellings = [key, inJson, inJson.replaceAll('/', '\\/'), encodeURIComponent(key)];
	return (text) => spellings.reduce((rest, spelling) => rest.replaceAll(spelling, HIDDEN), text);
}
