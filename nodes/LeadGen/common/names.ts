/** The first and the last name of a person, as lists hold them: with titles, degrees and notes, or both in one field. */
import { mustBe } from './values';

/** Matches each word of a list, in any case. The words are patterns. */
const oneOf = (words: string) => new RegExp(`^(?:${words.trim().replace(/\s+/g, '|')})$`, 'iu');

/** Titles and forms of address, also without a full stop. */
const TITLES = oneOf(String.raw`
	mrs? ms miss mx mlle mme monsieur madame maître sir lord dame d?dr prof professor do[ck]tor herrn? frau familie
	rev capt dott sra srta señora? signora? dipl mmag kommr stb mw dhr mevr mgr judr mudr mvdr phdr rndr hab inż et
	shri smt adv engr atty rabbi alhaji sheikh datuk dato'? datin encik puan khun hofrat sayın dª г-н г-жа д-р`);
/** A word with a full stop before the names is a title, such as `Dott.ssa`, but for most of two letters, and given names. */
const TITLE = /^(?:\p{L}{3,7}|\p{L}r|bc|lt|hj|pt|me|av|ao|op|da|δρ)\.[\p{L}ªº.-]*$/iu;
const GIVEN_NAMES = oneOf(`
	abd alex ant aug benj chas chr edw fco friedr geo gpe heinr jas joh jos mhd mohd? mst muhd? robt saml ste thos wilh`);
const TITLE_OF_WORDS =
	/^\s*(?:(?:tan|puan|dat(?:uk|in|o'?)) se?ri|sr\.? d\.|(?:the |rt\.? )+hon\.?)\s/i;
/** Titles only in this spelling, with two names behind them. */
const EXACT_TITLE = /^(?:Me|MS|RA|RAin|PD|DI|WP|CA)$/;

/** Degrees and suffixes behind a name, without full stops, and abbreviations with one. */
const SUFFIX = oneOf('jn?r sr iii? iv esq e?mba phd dds ll[mb] cpa cfa pmp');
const ABBREVIATION = /^(?:\p{Ll}{2,4}|Jun|Sen|Ret|Hon)\.$/u;
/** Degrees by their form, without full stops: PhD, PharmD, DrPH, MSc, PEng. */
const DEGREE = /^(?!IJ)\p{Lu}{1,4}(?:(?<=\p{Lu}{2})\p{Ll}{1,4}|\p{Ll}{1,5}\p{Lu}{1,2})$/u;
/** Degrees that in other spellings are initials or names. */
const EXACT_DEGREE = /^(?:M\.?D\.?|[MB]A|PE|RN|JD)$/;

/** Words that belong to the last name behind them, also with a capital. */
const PARTICLES = oneOf(String.raw`
	v[ao][nm] zu[mr]? de[rnls'’]? dell[aeo] degli d[aiou] dal(la)? d[ao]s l[aeo]s? el al bin(ti?)? ibn ben bar ab[ou]u?
	abd([eu]l)? ould a[iï]t te[rn]? op san santa são saint ste? st\. ma?c ['’‘ʼ${'`'}´]t [odl]['’‘ʼ${'`'}´] o ó ní nic uí ap
	a/[lp] [sd]/o delos dela vander vanden freiherr freifrau graf gräfin baron`);
/** Particles that begin a last name of several words: `da Silva Santos`. */
const OPENING = /^(?:d(?:a|el?|i|os?|as)|v[ao]n)$/;
/** Behind `da` and `del` in names of two given names: Maria da Graça, María del Carmen. */
const DEVOTION =
	/^(?:concei|gra[çc]a|carm|gl[óo]ria|luz|f[áa]tima|c[ée]u|ros[áa]rio|lourdes|paz|penha|dores|dolor|anjos|[áa]ngel|neves|assun|piedade|sa[úu]de|pilar|mar$|roc[íi]o|jes[úu]s|dios)/i;
/** The first of two Spanish or Portuguese last names: `Gabriel García Márquez`, `Muñoz`, `Díaz`, `Ferreira`. */
const FIRST_OF_TWO =
	/(?:\p{L}[^e][eé]z|[ií]az|[uú]ñoz|arc[íi]a|eira)$|^(?:ruiz|ortiz|silva|santos|sou[sz]a)$/iu;

/** Also behind a hyphen: `Visser-de Boer`. */
const isParticle = (word = '') => PARTICLES.test(word.replace(/^.*-(?=\p{Ll})/u, ''));
const isSmall = (word = '') => /^['’]?\p{Ll}[\p{Ll}.]*$/u.test(word);
const isInitial = (word = '') => /^(?:\p{Lu}\.-?)+$|^[A-NP-Z]$/u.test(word);
const isInCapitals = (word = '') => /^(?:Ma?c)?\p{Lu}[\p{Lu}'’-]+$/u.test(word);
/** Initials and most degrees cannot be spoken: `KVR`, `CISSP`. */
const isSpoken = (text: string) => /[B-DF-HJ-NP-TV-XZ][AEIOUY]|[^ -~’]|^NG$/.test(text);
const hasSmallLetters = (words: string[]) => /\p{Ll}/u.test(words.join(''));

function isTitle(word: string): boolean {
	const plain = word.replace(/\.$/, '');
	return word !== 'MS' && (TITLES.test(plain) || (TITLE.test(word) && !GIVEN_NAMES.test(plain)));
}

/** What is no name behind the first word. Also with full stops: `Ph.D.`. */
const isSuffix = (word: string) => ABBREVIATION.test(word) || SUFFIX.test(word.replaceAll('.', ''));
/** What is no name behind a first and a last name. */
const isDegree = (word: string) => DEGREE.test(word.replaceAll('.', '')) || EXACT_DEGREE.test(word);

/** A name without brackets, nicknames in quotes, emoji, and what follows a bar or a dash, with a space behind each full stop. */
function withoutNotes(name: string): string {
	return name
		.replace(/\([^()]*\)|\[[^[\]]*\]|(?<=\s)["“„«'‘][^"“”„«»'‘’]*["”“»'’](?=\s|$)/g, ' ')
		.replace(/^(\P{L}*\p{L}\S*\s+\p{L}.*?)\p{So}.*$/su, '$1')
		.replace(/[\p{So}\p{Emoji_Modifier}"“”„«»]/gu, ' ')
		.replace(/^\s*['‘](.*)['’]\s*$/s, '$1')
		.replace(TITLE_OF_WORDS, '')
		.replace(/\s(?:[-–—](?:\s|$)|[|•·@#→\d]|n[ée]e\s|geb\.|(?:she|he|they)\/).*$/s, '')
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
	const isUnspoken = (word: string) => /^\p{Lu}{2,5}$/u.test(word) && !isSpoken(word);
	// Behind a degree there are only more of them.
	const degree = all.findIndex(
		(word, index) =>
			(index > 0 && isSuffix(word)) ||
			(index >= least &&
				(isDegree(word) || (isUnspoken(word) && hasSmallLetters(all.slice(0, 1))))),
	);
	if (degree > 0) all.length = degree;
	return all;
}

/** A first or a last name without titles, degrees, brackets and emoji: `Dr. Ada` gives `Ada`, `Okafor, MBA` gives `Okafor`. */
export function plainName(name: string): string {
	const [before = ''] = withoutNotes(name).split(/[,;]/);
	return wordsOf(before, 1).join(' ');
}

/** Whether a part behind a comma has only titles and degrees. */
function isSurplus(part: string): boolean {
	const words = part.split(/[\s/&]+/).filter((word) => word !== '');
	return words.every((word) => isSuffix(word) || isDegree(word) || isTitle(word));
}

/** Whether all words before a comma are a last name: `van Dijk, Jan`, `GARCÍA LORCA, Ana`, `Ruiz Vega, Ana`. */
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

/** Where a last name begins that has the word at `end`: with the particles before it. */
function beginOf(all: string[], end: number, isOne: (word: string) => boolean): number {
	return Math.max(1, all.slice(0, end).findLastIndex((word) => !isOne(word)) + 1);
}

/** The words of the first and of the last name in those of a whole one, with the first name in front or, in capitals, behind. */
function splitWords(all: string[]): [first: string[], last: string[]] {
	const isCapital = (word: string) => isInCapitals(word) || (isSmall(word) && isParticle(word));
	const capitals = all.filter(isCapital);
	const others = all.filter((word) => !isCapital(word));
	const text = capitals.filter(isInCapitals).join('');
	// `SAM Smith` and `KVR Reddy` have first names in capitals, `DUPONT Jean` and `KIM Min-jun` last names.
	const isLong = text.length > 3 || /-\p{Ll}/u.test(others[0] ?? '');
	const isLast = isInCapitals(all[0]) ? isLong : isInCapitals(all.at(-1));
	if (isLast && isSpoken(text) && hasSmallLetters(others)) return [others, capitals];
	const particles = all.findIndex((word) => !isParticle(word));
	if (particles > 0 && isSmall(all[0]) && !isSmall(all.at(-1)))
		return [all.slice(particles + 1), all.slice(0, particles + 1)];
	const hasCapital = /^\p{Lu}/u.test(all.at(-1) ?? '');
	// Brazilian forms of Junior belong to the last name.
	const isJunior = /^(filho|neto|sobrinho|j[úu]nior)$/i.test(all.at(-1) ?? '');
	const end = all.length - (isJunior ? 2 : 1);
	let begin = beginOf(all, end, (word) => isParticle(word) || (hasCapital && isSmall(word)));
	if (begin > 1 && /^[yei]$/.test(all[begin] ?? '')) begin -= 1;
	const isDevotion = (index: number) =>
		DEVOTION.test(all.slice(index).find((word) => !isParticle(word)) ?? '');
	const isFirst = (word: string, index: number) =>
		FIRST_OF_TWO.test(word) || (OPENING.test(word) && !isDevotion(index));
	const first = 1 + all.slice(1, begin).findIndex((word, index) => isFirst(word, index + 1));
	if (first > 0) begin = first;
	return [all.slice(0, begin), all.slice(begin)];
}

/**
 * The first and the last name in a full name, also in one such as `Okafor, Ada` and `Peter van der Berg`.
 * @throws InputError for the names of several people
 */
export function splitName(full: string, displayName = 'Full Name') {
	const name = withoutNotes(full).trim();
	const parts = name.split(/;|\s\/\s/);
	const people = parts.filter((part) => /\S[\s,]+\S/.test(part) && !isSurplus(part));
	const [head = '', ...behind] = name.split(/[,;]|\s\/\s/);
	if (people.length > 1 || /\s[&+]\s|\sand\s|(?<!von)\sund\s|(?<!\.)\set\s/.test(head))
		throw mustBe('the name of one person', full, displayName);
	const all = wordsOf(head, 2);
	const before = behind.find((part) => isLastName(all) && !isSurplus(part));
	if (before !== undefined) {
		const first = wordsOf(before, 2);
		// A last name can be the same as a title: `Lord, Jack`.
		const both = [...first, ...(all.length > 0 ? all : [head])];
		const begin = beginOf(both, first.length, (word) => isSmall(word) && isParticle(word));
		return namesOf(both.slice(0, begin), both.slice(begin));
	}
	// Behind a title, a single word is the last name.
	if (all.length < 2) return name === all[0] ? namesOf(all, []) : namesOf([], all);
	return namesOf(...splitWords(all));
}

/** The two names, without initials in the middle: `John F.` gives `John`, `J. R. R.` stays. */
function namesOf(first: string[], last: string[]) {
	const isMiddle = (word: string) => isInitial(word) && !isInitial(first[0]);
	return {
		firstName: first.filter((word, index) => index === 0 || !isMiddle(word)).join(' '),
		lastName: last.join(' ').replace(/(?<=\p{L}{4})\.$/u, ''),
	};
}
