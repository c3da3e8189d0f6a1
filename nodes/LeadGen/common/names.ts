import { mustBe } from './values';

/** Forms of address before a name. Those with a full stop are names without it. */
const TITLES = words(
	'mr mrs ms miss mx sir lord dame dr ddr prof professor doctor doktor herr herrn frau familie mme mlle monsieur madame maître dott dottssa sra srta señor señora signor signora dipl univ mmag kommr stb mw dhr mevr mgr judr mudr mvdr phdr rndr hab inż et shri smt adv engr atty rabbi datuk dato datin encik puan hofrat sayın dª г-н г-жа д-р hr. fr. sr. er. ar. pr. bc. lt. hj. pt. br. ir. me. av. ao. δρ.',
);
/** Titles only in this spelling, with two names behind them. */
const EXACT_TITLES = new Set(['Me', 'MS', 'RA', 'RAin', 'PD', 'DI', 'WP', 'CA']);
/** Any other short word with a full stop before the names is a title, but for these given names. */
const TITLE =
	/^(?!(?:chr|jos|geo|chas|thos|jas|robt|benj|edw|saml|alex|joh|mohd?|muhd?|mhd|abd|ant|aug|mst|wilh|heinr|friedr|fco|gpe|st[ae])\.)\p{L}{3,7}\.[\p{L}ªº.-]*$/iu;
/** Degrees and suffixes at the end of a name, and those that are names in other spellings. */
const SUFFIXES = words(
	'jr sr ii iii iv esq mba emba phd dds llm llb cpa cfa pmp frcs drsc jun. sen. ret. hon.',
);
const EXACT_SUFFIXES = new Set('MD MA BA BS MS JD RN PE QC KC SJ DVM'.split(' '));
/** Degrees by their form, without full stops: PhD, PharmD, DrPH, MSc, PEng. */
const DEGREE = /^(?!IJ)\p{Lu}{1,4}(?:(?<=\p{Lu}{2})\p{Ll}{1,4}|\p{Ll}{1,5}\p{Lu}{1,2})$/u;
/** Positions, which people write behind a comma. */
const POSITION =
	/(?<!\p{L})(c[etfmis]o|coo|ciso|chro|[es]?vp|head|lead|chief|inc|gmbh|ltd|of|at|for|bei|für|real estate|human resources|\p{L}+ist(in)?)(?!\p{L})|engineer|develop|manage|direct[eio]|consult|konsult|founder|owner|presid|présid|partner|officer|executive|analyst|archite[ck]t|attorney|lawyer|realtor|broker|agent|advis|specialist|coordinator|assistant|profess|teacher|nurse|physician|surgeon|dentist|psycholog|therapist|designer|scientist|research|coach|author|speaker|writer|editor|journalist|photograph|account|recruit|market|sales(?!i)|trainer|student|supervisor|administrat|programm|technician|geschäfts|leiter|berater|ingeni|inżynier|vorstand|inhaber|prokurist|entwickler|anwalt|anwält|gérant|responsab|avocat|abogad|gerente|titolare|avvocato|kierownik|dyrektor|prezes|ředitel|jednatel|eigenaar|bestuurder|barrister|solicitor|freelanc|entrepren|investor|unternehm|associate|growth/iu;
/** Words that belong to the last name behind them, also with a capital. */
const PARTICLES = words(
	"van von vom zum zur zu der den de del della delle dello dei degli di da dal dalla do dos das du des le la lo las los el al bin bint binti ibn ben bar abu abou abd abdel abdul ould ait aït ter ten te 't op san santa são saint st st. ste mac mc o o' d' l' ó ní nic uí ap a/l a/p s/o d/o dela delos vander freiherr freifrau graf gräfin baron",
);
/** Behind `da` and `dos` in names of two given names: Maria da Graça. */
const DEVOTION =
	/^(concei|gra[çc]a|carmo|gl[óo]ria|luz|f[áa]tima|c[ée]u|ros[áa]rio|lourdes|paz|penha|dores|anjos|neves|assun|piedade|sa[úu]de)/i;

function words(text: string): Set<string> {
	return new Set(text.split(' '));
}

/** Also with a field, or in the form of a woman: `Dipl.-Ing.`, `Dr.in`. */
function isTitle(word: string): boolean {
	const lower = word.toLowerCase();
	const [first = ''] = lower.split(/[.-]/);
	if (word === 'MS') return false;
	return (
		TITLES.has(lower) ||
		TITLES.has(first) ||
		(lower !== first && TITLES.has(`${first}.`)) ||
		TITLE.test(word)
	);
}

/** Also with full stops: `Ph.D.`. */
function isSuffix(word: string): boolean {
	const plain = word.replaceAll('.', '');
	const isListed = SUFFIXES.has(plain.toLowerCase()) || SUFFIXES.has(word.toLowerCase());
	return isListed || DEGREE.test(plain) || /^\p{Ll}{2,4}\.$/u.test(word);
}

/** A degree that in other places is a name, such as MA. */
function isDegree(word: string): boolean {
	return EXACT_SUFFIXES.has(word.replaceAll('.', ''));
}

function isParticle(word = ''): boolean {
	return PARTICLES.has(word.toLowerCase().replace(/[’‘ʼ`´]/, "'"));
}

function hasSmallLetters(words: string[]): boolean {
	return /\p{Ll}/u.test(words.join(''));
}

/** A name without brackets, nicknames in quotes, emoji, and what follows a bar, with a space behind each full stop. */
function withoutNotes(name: string): string {
	return name
		.replace(
			/\([^()]*\)|\[[^[\]]*\]|(?<=\s)["“„«][^"“”„«»]*["”“»](?=\s|$)|(?<=\s)['‘][^'‘’]*['’](?=\s|$)/g,
			' ',
		)
		.replace(/[\p{So}\p{Emoji_Modifier}"“”„«»]/gu, ' ')
		.replace(/^\s*['‘](.*)['’]\s*$/s, '$1')
		.replace(/\s(?:[|•·@#\d]|n[ée]e\s|geb\.|(?:she|he|they)\/).*$/s, '')
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
	const all = name.split(/\s+/).filter((word) => !/^[-–—.]*$/.test(word));
	const isCapitals = !hasSmallLetters(all.slice(0, 1));
	for (let last = all.at(-1) ?? ''; all.length > 1; last = all.at(-1) ?? '') {
		const isLikely = isDegree(last) || (/^\p{Lu}{3,5}$/u.test(last) && !isSurname(last));
		const isPossible = all.length > (isDegree(last) ? least : 2) && !isCapitals;
		if (!isSuffix(last) && !(isLikely && isPossible)) break;
		all.pop();
	}
	const isBefore = (word: string) =>
		isTitle(word) ||
		(/^(?!v\.)\p{Ll}+\./u.test(word) && /^\p{Lu}/u.test(all.at(-1) ?? '')) ||
		(EXACT_TITLES.has(word) && !isInCapitals(all[1]) && all.length > 2);
	while (isBefore(all[0] ?? '')) all.shift();
	return all;
}

/** A first or a last name without titles, degrees, brackets and emoji: `Dr. Ada` gives `Ada`, `Okafor, MBA` gives `Okafor`. */
export function plainName(name: string): string {
	const [before = ''] = withoutNotes(name).split(/[,;]/);
	return wordsOf(before, 1).join(' ');
}

/** Whether a part behind a comma is no first name: titles, a position, or certificates behind a whole name. */
function isSurplus(part: string, before: string[] = []): boolean {
	const each = part.split(/[\s/&]+/).filter((word) => word !== '');
	// `Smith, J.D.` has initials, `Jane Smith, J.D.` has a degree.
	const isLast = before.length === 1;
	const isWhole = before.length > 1 && !isParticle(before[0]) && hasSmallLetters(before);
	return (
		each.every(
			(word) => isSuffix(word) || isTitle(word) || (isDegree(word) && !(isLast && isInitial(word))),
		) ||
		POSITION.test(part) ||
		/\d/.test(part) ||
		(isWhole && /^[\p{Lu}.\s/&+-]+$/u.test(part) && !each.every(isInitial))
	);
}

function isInitial(word = ''): boolean {
	return /^(?:\p{Lu}\.-?)+$|^[A-NP-Z]$/u.test(word);
}

function isInCapitals(word = ''): boolean {
	return /^(?:Ma?c)?\p{Lu}[\p{Lu}'’-]+$/u.test(word);
}

/** Whether a word is in capitals, as French people write a last name: `DUPONT Jean`. Initials cannot be spoken: `KVR`. */
function isSurname(word: string): boolean {
	return (
		isInCapitals(word) && /..[^]/.test(word) && /[B-DF-HJ-NP-TV-XZ][AEIOUY]|[^ -~’]/.test(word)
	);
}

/** Where the last name begins in the words of a whole name. */
function beginOfLast(all: string[]): number {
	let begin = all.length;
	while (begin > 1 && (isInCapitals(all[begin - 1]) || isParticle(all[begin - 1]))) begin--;
	if (hasSmallLetters(all.slice(0, begin)) && all.slice(begin).some(isSurname)) return begin;
	begin = all.length - 1;
	// Brazilian forms of Junior belong to the last name.
	if (begin > 1 && /^(filho|neto|sobrinho|j[úu]nior)$/i.test(all[begin] ?? '')) begin--;
	// A word without a capital belongs to what follows, and in `Ortega y Gasset` also to what is before it.
	const isSmall = (word = '') =>
		/^['’]?\p{Ll}[\p{Ll}.]*$/u.test(word) && /^\p{Lu}/u.test(all.at(-1) ?? '');
	for (
		let word = all[begin - 1];
		begin > 1 && (isParticle(word) || isSmall(word));
		word = all[begin - 1]
	) {
		begin -= begin > 2 && /^[yei]$/.test(word ?? '') ? 2 : 1;
	}
	const portuguese = all.findIndex(
		(word, index) =>
			index > 0 && /^d(a|os?|as)$/.test(word) && !DEVOTION.test(all[index + 1] ?? ''),
	);
	return portuguese > 0 ? Math.min(portuguese, begin) : begin;
}

/** How many words at the beginning are a last name: in capitals, or behind a particle without a capital. */
function lengthOfLast(all: string[]): number {
	const isSmall = (word = '') => /^\p{Ll}/u.test(word);
	let end = all.findIndex((word) => !isInCapitals(word) && !isParticle(word));
	const ifSmall = end > 0 && isSmall(all[0]) && !isSmall(all.at(-1)) ? end + 1 : 0;
	while (end > 0 && !isInCapitals(all[end - 1])) end--;
	const isFirst = end > 0 && all.slice(0, end).some(isSurname) && !all.slice(end).some(isSurname);
	return isFirst && !isSmall(all[end]) ? end : ifSmall;
}

/**
 * The first and the last name in a full name, also in one such as `Okafor, Ada` and `Peter van der Berg`.
 * @throws InputError for the names of several people
 */
export function splitName(
	full: string,
	displayName = 'Full Name',
): { firstName: string; lastName: string } {
	// A position may follow a dash.
	const [name = ''] = withoutNotes(full)
		.trim()
		.split(/\s[-–—](?:\s|$)/);
	const [head = '', ...behind] = name.split(/[,;]/);
	const people = head.split(/\s[&/+]\s|\s(?:and|et)\s/).filter((part) => !isSurplus(part));
	const rows = name.split(';').filter((part) => /\S[\s,]+\S/.test(part) && !isSurplus(part));
	if (people.length > 1 || rows.length > 1)
		throw mustBe('the name of one person', full, displayName);
	const all = wordsOf(people[0] ?? head, 2);
	const first = behind.find((part) => !isSurplus(part, all));
	if (first !== undefined) return namesOf(wordsOf(first, 2), all);
	// Behind a title, a single word is the last name.
	if (all.length < 2) return head.trim() === all[0] ? namesOf(all, []) : namesOf([], all);
	const length = lengthOfLast(all);
	if (length > 0) return namesOf(all.slice(length), all.slice(0, length));
	const begin = beginOfLast(all);
	return namesOf(all.slice(0, begin), all.slice(begin));
}

/** Leaves out initials in the middle: `John F.` gives `John`, `J. R. R.` stays. */
function namesOf(first: string[], last: string[]): { firstName: string; lastName: string } {
	const [begin = '', ...others] = first;
	const middle = others.filter((word) => isInitial(begin) || !isInitial(word));
	return {
		firstName: [begin, ...middle].join(' '),
		lastName: last.join(' ').replace(/(?<=\p{L}{4})\.$/u, ''),
	};
}
