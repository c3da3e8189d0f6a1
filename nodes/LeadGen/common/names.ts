import { mustBe } from './values';

/** Forms of address before a name, also without a full stop. */
const TITLES =
	/^(?:m(?:rs?|s|iss|x|me|lle|onsieur|adame|aître)|sir|lord|dame|dd?r|prof(?:essor)?|do[ck]tor|herrn?|frau|familie|dott|sra|srta|señora?|signora?|dipl|mmag|kommr|stb|mw|dhr|mevr|mgr|judr|mudr|mvdr|phdr|rndr|hab|inż|et|shri|smt|adv|engr|atty|rabbi|alhaji|datuk|dato'?|datin|encik|puan|khun|hofrat|sayın|dª|г-н|г-жа|д-р)\.?$/i;
/** A short word with a full stop before the names is a title, but for these given names and for most of two letters. */
const TITLE =
	/^(?!(?:chr|jos|geo|chas|thos|jas|robt|benj|edw|saml|alex|joh|mohd?|muhd?|mhd|abd|ant|aug|mst|wilh|heinr|friedr|fco|gpe|ste)\.)(?:\p{L}{3,7}|\p{L}r|bc|lt|hj|pt|me|av|ao|op|da|δρ)\.[\p{L}ªº.-]*$/iu;
const TITLE_OF_WORDS = /^\s*(?:tan sri|dat(?:uk|o'?) seri|sr\.? d\.|(?:the |rt\.? )+hon\.?)\s/i;
/** Titles only in this spelling, with two names behind them. */
const EXACT_TITLE = /^(?:Me|MS|RA|RAin|PD|DI|WP|CA)$/;
/** Degrees and suffixes behind a name, without full stops, and abbreviations with one. */
const SUFFIX = /^(?:jn?r|sr|iii?|iv|esq|e?mba|phd|dds|ll[mb]|cpa|cfa|pmp)$/i;
const ABBREVIATION = /^(?:\p{Ll}{2,4}|Jun|Sen|Ret|Hon)\.$/u;
/** Degrees by their form, without full stops: PhD, PharmD, DrPH, MSc, PEng. */
const DEGREE = /^(?!IJ)\p{Lu}{1,4}(?:(?<=\p{Lu}{2})\p{Ll}{1,4}|\p{Ll}{1,5}\p{Lu}{1,2})$/u;
/** Degrees that in other spellings are initials or names. */
const EXACT_DEGREE = /^(?:M\.?D\.?|[MB]A|PE|RN|JD)$/;
/** A position, a company or a place of two words, which could be the name of another person. */
const POSITION =
	/(?<!\p{L})(?:c[etfmis]o|coo|ciso|[es]?vp|head|lead|chief|nurse|inc|gmbh|ltd|of|at|for|bei|für|real estate|human resources|customer|talent|product|business|senior|freelance|corp|llc|group|services|solutions|united|(?:new|san|los|são) \p{L}+|\p{L}+(?<!r)ist(?:in)?)(?!\p{L})|engineer|develop|manage|direct[eio]|consult|konsult|founder|owner|presid|partner|officer|executive|analyst|archite[ck]t|attorney|lawyer|realtor|broker|agent|advis|specialist|coordinator|assistant|profess|teacher|therapist|designer|research|coach|author|editor|account|recruit|marketing|sales(?!i)|trainer|student|administrat|geschäfts|leiter|berater|anwalt|ingeni|gerente|\d/iu;
/** Words that belong to the last name behind them, also with a capital. */
const PARTICLE =
	/^(?:van|v[ao][nm]|zu[mr]?|de[rnls]?|dell[aeo]|degli|d[aiou]|dal(?:la)?|d[ao]s|l[aeo]|l[ao]s|el|al|bint?|binti|ibn|ben|bar|ab[ou]u?|abd(?:[eu]l)?|ould|a[iï]t|te[rn]?|op|san|santa|são|saint|ste?|st\.|ma?c|['’‘ʼ`´]t|[odl]['’‘ʼ`´]|o|ó|ní|nic|uí|ap|a\/[lp]|[sd]\/o|delos|dela|vander|vanden|frei(?:herr|frau)|graf|gräfin|baron)$/i;
/** Behind `da` and `del` in names of two given names: Maria da Graça, María del Carmen. */
const DEVOTION =
	/^(?:concei|gra[çc]a|carm|gl[óo]ria|luz|f[áa]tima|c[ée]u|ros[áa]rio|lourdes|paz|penha|dores|dolor|anjos|[áa]ngel|neves|assun|piedade|sa[úu]de|pilar|mar$|roc[íi]o|jes[úu]s|dios)/i;
/** The first of two Spanish or Portuguese last names: `García Márquez, Gabriel`. */
const FIRST_OF_TWO = /(?:[aeoáéóú]z|[ut]iz|arc[íi]a|eira)$|^(?:silva|santos|sou[sz]a)$/i;

/** Also behind a hyphen: `Visser-de Boer`. */
const isParticle = (word = '') => PARTICLE.test(word.replace(/^.*-(?=\p{Ll})/u, ''));
const isSmall = (word = '') => /^['’]?\p{Ll}[\p{Ll}.]*$/u.test(word);
const isInitial = (word = '') => /^(?:\p{Lu}\.-?)+$|^[A-NP-Z]$/u.test(word);
const isInCapitals = (word = '') => /^(?:Ma?c)?\p{Lu}[\p{Lu}'’-]+$/u.test(word);
/** Initials and most degrees cannot be spoken: `KVR`, `CISSP`. */
const isSpoken = (text: string) => /[B-DF-HJ-NP-TV-XZ][AEIOUY]|[^ -~’]|^NG$/.test(text);
const hasSmallLetters = (words: string[]) => /\p{Ll}/u.test(words.join(''));

const isTitle = (word: string) => (word !== 'MS' && TITLES.test(word)) || TITLE.test(word);

/** Also with full stops: `Ph.D.`. */
function isSuffix(word: string): boolean {
	const plain = word.replaceAll('.', '');
	return SUFFIX.test(plain) || DEGREE.test(plain) || ABBREVIATION.test(word);
}

/** A name without brackets, nicknames in quotes, emoji, and what follows a bar or a dash, with a space behind each full stop. */
function withoutNotes(name: string): string {
	return name
		.replace(
			/\([^()]*\)|\[[^[\]]*\]|(?<=\s)["“„«][^"“”„«»]*["”“»](?=\s|$)|(?<=\s)['‘][^'‘’]*['’](?=\s|$)/g,
			' ',
		)
		.replace(/^(\P{L}*\p{L}\S*\s+\p{L}.*?)\p{So}.*$/su, '$1')
		.replace(/[\p{So}\p{Emoji_Modifier}"“”„«»]/gu, ' ')
		.replace(/^\s*['‘](.*)['’]\s*$/s, '$1')
		.replace(TITLE_OF_WORDS, '')
		.replace(/\s[-–]\s(?=(?:de|van|von|ter?)\s)/g, '-')
		.replace(/\s(?:[-–—](?:\s|$)|[|•·@#\d]|n[ée]e\s|geb\.|(?:she|he|they)\/).*$/s, '')
		.replace(
			/^\s*(?:\p{Lu}\.)+(?=\p{Lu}\p{Ll})|(?<=(?:^|[\s.])\p{L}{2,6}\.)(?=\p{Lu}\p{Ll}[^\s.]*[\s.])/gu,
			'$& ',
		);
}

/**
 * The words of a name without titles before it and degrees behind it.
 * @param least how many words stay in front of a degree that can be a name, such as MA
 */
function wordsOf(name: string, least: number): string[] {
	const all = name.split(/\s+/).filter((word) => /[^-–—.]/.test(word));
	const isBefore = (word: string) =>
		isTitle(word) ||
		(/^(?!v\.)\p{Ll}+\./u.test(word) && /^\p{Lu}/u.test(all.at(-1) ?? '')) ||
		(EXACT_TITLE.test(word) && !isInCapitals(all[1]) && all.length > least);
	while (isBefore(all[0] ?? '')) all.shift();
	// Behind a degree there are only more of them.
	const degree = all.findIndex(
		(word, index) => isSuffix(word) && index >= (DEGREE.test(word) ? least : 1),
	);
	if (degree > 0) all.length = degree;
	const isDegree = (word: string) =>
		EXACT_DEGREE.test(word.replaceAll('.', '')) || (/^\p{Lu}{2,5}$/u.test(word) && !isSpoken(word));
	while (all.length > least && hasSmallLetters(all.slice(0, 1)) && isDegree(all.at(-1) ?? ''))
		all.pop();
	return all;
}

/** A first or a last name without titles, degrees, brackets and emoji: `Dr. Ada` gives `Ada`, `Okafor, MBA` gives `Okafor`. */
export function plainName(name: string): string {
	const [before = ''] = withoutNotes(name).split(/[,;]/);
	return wordsOf(before, 1).join(' ');
}

/** Whether a part behind a comma is no name: titles, degrees, or a position of several words. */
function isSurplus(part: string): boolean {
	const each = part.split(/[\s/&]+/).filter((word) => word !== '');
	const isNone = (word: string) => isSuffix(word) || isTitle(word) || EXACT_DEGREE.test(word);
	return each.every(isNone) || (each.length > 1 && POSITION.test(part));
}

/** Whether a part behind a comma can be the whole name of another person. */
function isWhole(part: string): boolean {
	const each = part.trim().split(/\s+/);
	const isName = (word = '') => /^\p{Lu}.*\p{Ll}/u.test(word);
	const isOne =
		isName(each[0]) && isName(each.at(-1)) && each.slice(1, -1).every((word) => isParticle(word));
	return each.length > 1 && isOne && !isSurplus(part);
}

/** Whether all words before a comma are a last name. */
function isLastName(all: string[]): boolean {
	const [first = '', second = ''] = all;
	return (
		all.length < 2 ||
		!hasSmallLetters(all) ||
		(isParticle(first) && !/^(Ben|Al|Mac)$/.test(first)) ||
		/^[yei]$/.test(second) ||
		FIRST_OF_TWO.test(first)
	);
}

/** Where the last name begins in the words of a whole name. */
function beginOfLast(all: string[]): number {
	let begin = all.length;
	while (begin > 1 && (isInCapitals(all[begin - 1]) || isParticle(all[begin - 1]))) begin--;
	if (hasSmallLetters(all.slice(0, begin)) && isSpoken(all.slice(begin).join(''))) return begin;
	begin = all.length - 1;
	// Brazilian forms of Junior belong to the last name.
	if (begin > 1 && /^(filho|neto|sobrinho|j[úu]nior)$/i.test(all[begin] ?? '')) begin--;
	const hasCapital = /^\p{Lu}/u.test(all.at(-1) ?? '');
	begin = withParticles(all, begin, (word) => isParticle(word) || (hasCapital && isSmall(word)));
	const particle = all.findIndex(
		(word, index) =>
			index > 0 &&
			/^(?:d(?:a|el?|i|os?|as)|v[ao]n)$/.test(word) &&
			!DEVOTION.test(all.slice(index).find((next) => !isParticle(next)) ?? ''),
	);
	return particle > 0 ? Math.min(particle, begin) : begin;
}

/** The begin of a last name with the particles before it, and with what is before the `y` in `Ortega y Gasset`. */
function withParticles(all: string[], end: number, isOne: (word?: string) => boolean): number {
	let begin = end;
	while (begin > 1 && isOne(all[begin - 1]))
		begin -= begin > 2 && /^[yei]$/.test(all[begin - 1] ?? '') ? 2 : 1;
	return begin;
}

/** How many words at the beginning are a last name: in capitals, as in `DUPONT Jean`, or behind a particle without one. */
function lengthOfLast(all: string[]): number {
	let end = all.findIndex((word) => !isInCapitals(word) && !isParticle(word));
	const ifSmall = end > 0 && isSmall(all[0]) && !isSmall(all.at(-1)) ? end + 1 : 0;
	while (end > 0 && !isInCapitals(all[end - 1])) end--;
	const text = all.slice(0, end).join('');
	const next = all[end] ?? '';
	// `SAM Smith` and `KVR Reddy` have first names in capitals, `KIM Min-jun` and `VLK Jan` last names.
	const isLong = isSpoken(text) && (text.length > 3 || /-\p{Ll}/u.test(next));
	const isLast = isLong || /^[^AEIOUY]L[^AEIOUY]$/.test(text);
	return isLast && !isSmall(next) && hasSmallLetters(all.slice(-1)) ? end : ifSmall;
}

/**
 * The first and the last name in a full name, also in one such as `Okafor, Ada` and `Peter van der Berg`.
 * @throws InputError for the names of several people
 */
export function splitName(
	full: string,
	displayName = 'Full Name',
): { firstName: string; lastName: string } {
	const name = withoutNotes(full).trim();
	const [head = '', ...behind] = name.split(/[,;]|\s\/\s/);
	const all = wordsOf(head, 2);
	const isLast = isLastName(all);
	const rows = name.split(';').filter((part) => /\S[\s,]+\S/.test(part) && !isSurplus(part));
	const isMany = rows.length > 1 || /\s[&+]\s|\sand\s|(?<!\.)\set\s/.test(head);
	if (isMany || (!isLast && behind.some(isWhole)))
		throw mustBe('the name of one person', full, displayName);
	const before = behind.find((part) => isLast && !isSurplus(part));
	if (before !== undefined) {
		// A last name can be the same as a title: `Lord, Jack`.
		const last = all.length > 0 ? all : [head];
		const both = [...wordsOf(before, 2), ...last];
		const isOne = (word?: string) => isSmall(word) && isParticle(word);
		return namesOf(both, withParticles(both, both.length - last.length, isOne));
	}
	// Behind a title, a single word is the last name.
	if (all.length < 2) return namesOf(all, name === all[0] ? 1 : 0);
	const length = lengthOfLast(all);
	return length > 0
		? namesOf([...all.slice(length), ...all.slice(0, length)], all.length - length)
		: namesOf(all, beginOfLast(all));
}

/** The two names, without initials in the middle: `John F.` gives `John`, `J. R. R.` stays. */
function namesOf(all: string[], begin: number): { firstName: string; lastName: string } {
	const first = all.slice(0, begin);
	const isMiddle = (word: string, index: number) =>
		index > 0 && isInitial(word) && !isInitial(first[0]);
	const last = all.slice(begin).join(' ');
	return {
		firstName: first.filter((word, index) => !isMiddle(word, index)).join(' '),
		lastName: last.replace(/(?<=\p{L}{4})\.$/u, ''),
	};
}
