/** Forms of address before a name. Some are only titles with a full stop. */
const TITLES = words(
	'mr mrs ms miss mx sir dr prof professor doctor herr frau mme mlle monsieur madame dott dottssa sra srta señor señora signor signora dipl univ mag. ing. hr. fr. sig. sigra sr. eng. lic. rev. rer. nat. med. phil.',
);
/** Degrees and suffixes at the end of a name. */
const SUFFIXES = words('jr sr ii iii iv esq mba emba phd md dds jd msc bsc meng llm cpa cfa pmp');
/** Words of a position, which people write behind a comma. */
const POSITIONS = words(
	'ceo cto cfo coo cmo cio vp head chief director manager founder co-founder owner president partner consultant geschäftsführer geschäftsführerin',
);
/** Words that belong to the last name behind them. */
const PARTICLES = words(
	'van von vom zu zum zur der den de del della di da dal do dos das du des la las los el al bin ibn ter',
);

function words(text: string): Set<string> {
	return new Set(text.split(' '));
}

/** Also with a field: `Dipl.-Ing.`. */
function isTitle(word: string): boolean {
	const [first = ''] = word.toLowerCase().split('-');
	return TITLES.has(first) || TITLES.has(first.replaceAll('.', ''));
}

/** Also with full stops: `Ph.D.`. */
function isSuffix(word: string): boolean {
	return SUFFIXES.has(word.toLowerCase().replaceAll('.', ''));
}

function isParticle(word = ''): boolean {
	return PARTICLES.has(word.toLowerCase());
}

/** A name without brackets, nicknames in quotes, emoji, and what follows a bar. */
function withoutNotes(name: string): string {
	return name
		.replace(/\([^()]*\)|\[[^[\]]*\]|(?<=\s)["“][^"“”]*["”](?=\s)/g, ' ')
		.replace(/[\p{So}\p{Emoji_Modifier}]/gu, ' ')
		.replace(/\s[|•].*$/s, '');
}

/** The words of a name without titles before it and degrees behind it. */
function wordsOf(name: string): string[] {
	const all = name.split(/\s+/).filter((word) => word !== '');
	while (all.length > 1 && isSuffix(all.at(-1) ?? '')) all.pop();
	while (isTitle(all[0] ?? '')) all.shift();
	return all;
}

/** A first or a last name without titles, degrees, brackets and emoji: `Dr. Ada` gives `Ada`, `Okafor, MBA` gives `Okafor`. */
export function plainName(name: string): string {
	const [before = ''] = withoutNotes(name).split(/[,;]/);
	return wordsOf(before).join(' ');
}

/** Whether a part behind a comma is no first name: titles, a position, or certificates behind a whole name. */
function isSurplus(part: string, before: string[]): boolean {
	const each = part.split(/[\s/&]+/);
	const isWhole = before.length > 1 && !isParticle(before[0]) && /\p{Ll}/u.test(before.join(''));
	return (
		each.every((word) => word === '' || isSuffix(word) || isTitle(word)) ||
		each.some((word) => POSITIONS.has(word.toLowerCase())) ||
		(isWhole && /^[\p{Lu}\d.\s/&+-]+$/u.test(part))
	);
}

/** Whether a word is in capitals, as French people write a last name: `DUPONT Jean`. */
function isInCapitals(word: string): boolean {
	return /^\p{Lu}[\p{Lu}'’-]{2,}$/u.test(word);
}

/** The first and the last name in a full name, also in one such as `Okafor, Ada` and `Peter van der Berg`. */
export function splitName(full: string): { firstName: string; lastName: string } {
	// A position may follow a dash.
	const [name = ''] = withoutNotes(full).split(/\s[-–—]\s/);
	const [head = '', ...behind] = name.split(/[,;]/);
	const all = wordsOf(head);
	const first = behind.find((part) => !isSurplus(part, all));
	if (first !== undefined) return namesOf(wordsOf(first), all);
	if (all.length < 2) return namesOf(all, []);
	const [last = '', ...others] = all;
	if (isInCapitals(last) && !others.some(isInCapitals)) return namesOf(others, [last]);
	let begin = all.length - 1;
	while (begin > 1 && isParticle(all[begin - 1])) begin--;
	return namesOf(all.slice(0, begin), all.slice(begin));
}

/** Leaves out initials in the middle: `John F.` gives `John`, `J. R. R.` stays. */
function namesOf(first: string[], last: string[]): { firstName: string; lastName: string } {
	const isInitial = (word = '') => /^\p{Lu}\.?$/u.test(word);
	const [begin = '', ...others] = first;
	const middle = others.filter((word) => isInitial(begin) || !isInitial(word));
	return { firstName: [begin, ...middle].join(' '), lastName: last.join(' ') };
}
