/** Titles and forms of address; behind them may follow parts such as `rer. nat.`. Some are only titles with a full stop. */
const TITLES = words(
	'mr mrs ms miss mx sir dr drs dres prof profdr professor doctor doktor herr frau mme mlle monsieur madame dott dottssa dottore sra srta señor señora signor signora sigra dña dhr mevr mw fru pani dipl univ priv mudr judr rndr phdr shri smt engr hr. fr. sig. ing. inż. eng. mag. rev. hon. lic. arq. avv. bc. mgr. ir. adv. capt. col. lt. gen. maj. sgt. sr.',
);
/** Degrees and suffixes at the end of a name. */
const SUFFIXES = words(
	'jr sr ii iii iv esq mba emba phd dphil md dds dmd edd jd msc bsc meng beng llm llb cpa cfa pmp rn',
);
/** Degrees that look like initials where they have full stops. */
const DEGREES_LIKE_INITIALS = words(
	'ba ma bs ms be me pe rd do dc dba dvm dnp mph mpa mfa msw bba bfa lpc cfp phr csw bsn msn rph',
);
/** Words of a position, which people write behind a dash or a comma. */
const POSITIONS = words(
	'ceo cto cfo coo cmo cio cro vp svp evp chief head director direktor direktorin directeur directrice direttore director directora manager managerin founder cofounder co-founder gründer gründerin fondateur fundador fondatore owner inhaber inhaberin geschäftsführer geschäftsführerin geschäftsführung prokurist vorstand leiter leiterin president präsident président presidente partner consultant berater gérant gerente amministratore sales marketing vertrieb einkauf',
);
/** First names that often begin a double one, such as Jean Pierre. Behind others, a second one is a middle name. */
const DOUBLE_NAMES = words(
	'anna anne hans karl marie maria maría mary jean juan josé jose luis luís ana joão carlos marco gian pier lisa eva rosa sarah',
);
/** Words that belong to the last name behind them; the second list only in lower case. */
const PARTICLES = words(
	"van von vom zu zum zur der den de del della di da dal dei dos das du des la las los el al bin ibn bint ben ter santa 't",
);
const LOWER_PARTICLES = words('do le lo ten te af av san y e i');

function isParticle(word: string): boolean {
	return PARTICLES.has(word.toLowerCase()) || LOWER_PARTICLES.has(word);
}

/** Whether a word at the beginning can only belong to a last name. */
function isFirstParticle(word: string): boolean {
	return isParticle(word) && !/^(Al|Ben|Del|Della|Di|Santa)$/i.test(word);
}

function words(text: string): Set<string> {
	return new Set(text.split(' '));
}

/** A word in lower case without full stops: `Ph.D.` gives `phd`. */
function bare(word: string): string {
	return word.toLowerCase().replaceAll('.', '');
}

function isTitle(word: string): boolean {
	const [name = ''] = bare(word).split('-');
	return TITLES.has(name) || (word.endsWith('.') && TITLES.has(`${name}.`));
}

/** Whether a part behind a comma is a suffix: only known words, or capitals behind a name in mixed case. */
function isSuffix(part: string, isBehindMixedCase: boolean): boolean {
	const isKnown = part.split(/[\s/&]+/).every((word) => SUFFIXES.has(bare(word)) || isTitle(word));
	const number = (letters: RegExp) => part.match(letters)?.length ?? 0;
	const isInCapitals = number(/\p{Lu}/gu) > Math.max(1, number(/\p{Ll}/gu));
	return isKnown || (isBehindMixedCase && isInCapitals && /^\p{Lu}[\p{L}\d.\s/&+-]*$/u.test(part));
}

/** Whether a text says what a person does: `CEO`, `Head of Sales`. */
function namesPosition(text: string): boolean {
	return text.split(/[\s/&]+/).some((word) => POSITIONS.has(bare(word)));
}

/**
 * A name without a position behind a comma, and without what follows a dash: `Peter Schmidt - CEO` gives `Peter Schmidt`.
 * `Müller - Schmidt` is a last name.
 */
function withoutPosition(name: string): string {
	const [begin = '', ...parts] = name.split(/(?=[,;])/);
	const whole = [begin, ...parts.filter((part) => !namesPosition(part.slice(1)))].join('');
	const [head = '', ...others] = whole.split(/\s[-–—]\s/).map((part) => part.trim());
	const isLastName = !/\s/.test(head) && others.length === 1 && !namesPosition(others.join(''));
	return isLastName ? `${head}-${others.join('')}` : head || whole;
}

/** Whether a part behind a comma is the initials of a first name. */
function areInitials(part: string): boolean {
	const letters = bare(part).replace(/[\s-]/g, '');
	const isDegree = SUFFIXES.has(letters) || DEGREES_LIKE_INITIALS.has(letters);
	return /^(\p{Lu}\.[\s-]?){1,3}$/u.test(part) && !isDegree;
}

/** Whether the words before a comma are a last name: one word, apart from titles and particles. */
function isLastName(head: string): boolean {
	const tokens = head.trim().split(/\s+/);
	const begin = tokens.findIndex((word) => !isTitle(word) && !isFirstParticle(word));
	return begin === -1 || begin === tokens.length - 1;
}

/**
 * A name without titles, degrees, brackets, emoji and what follows a bar: `Prof. Dr. Ada Okafor, MBA` gives `Ada Okafor`.
 * @param isWhole whether the part behind a comma may be the first name
 */
export function plainName(name: string, isWhole = false): string {
	const plain = name
		.replace(/[\u{1d400}-\u{1d7ff}]/gu, (letter) => letter.normalize('NFKC'))
		.replace(/[([{（【][^()[\]{}（）【】]*[)\]}）】]|(?<=\s)["“”„][^"“”„]*["“”](?=\s)/gu, ' ')
		.replace(/[\p{Extended_Pictographic}\p{So}\p{RI}\p{Emoji_Modifier}\u{fe0f}\u{20e3}]/gu, ' ')
		.replace(/\s[|•].*$/su, '')
		.replace(/\b(dr|prof|mr|mrs|ms|dipl|mag)\.(?=\p{L})/giu, '$& ');
	const [head = '', ...others] = withoutPosition(plain)
		.split(/[,;]/)
		.map((part) => part.trim());
	const isFirstName = isWhole && isLastName(head);
	const isBehindMixedCase = !isFirstName && /\p{Ll}/u.test(head);
	const isSurplus = (part: string) =>
		!(isWhole && areInitials(part)) && isSuffix(part, isBehindMixedCase);
	const kept = others.filter((part) => part !== '' && !isSurplus(part));
	const tokens = head.split(/\s+/).filter((token) => token !== '');
	while (tokens.length > 1 && SUFFIXES.has(bare(tokens.at(-1) ?? ''))) tokens.pop();
	// To take the first of many tokens away takes quadratic time.
	let begin = 0;
	while (isTitle(tokens[begin] ?? '')) {
		begin++;
		while (/^\p{Ll}[\p{Ll}.]*\.$/u.test(tokens[begin] ?? '')) begin++;
	}
	return [tokens.slice(begin).join(' '), ...kept].join(', ').replace(/^, /, '').trim();
}

/** Whether a word is in capitals, as French people write a last name: `DUPONT Jean`. */
function isInCapitals(word: string): boolean {
	return /^\p{Lu}[\p{Lu}'’-]{2,}$/u.test(word);
}

/** First names without those in the middle: `John F.` and `Ada Beatrice` give `John` and `Ada`, `Jean Pierre` stays. */
function withoutMiddle([first = '', ...others]: string[]): string {
	const isInitial = (word: string) => /^\p{Lu}\.?$/u.test(word);
	if (isInitial(first) || others.some(isParticle)) return [first, ...others].join(' ');
	const isDouble = DOUBLE_NAMES.has(first.toLowerCase());
	return [first, ...others.filter((word) => isDouble && !isInitial(word))].join(' ');
}

/** The first and the last name in a full name: `Okafor, Ada`, `Peter van der Berg` and `山田 太郎` have them in their own order. */
export function splitName(full: string): { firstName: string; lastName: string } {
	const name = plainName(full, true);
	const [last = '', first] = name.split(',').map((part) => part.trim());
	if (first !== undefined) return namesOf(plainName(first).split(/\s+/), [last]);
	// "M." is Monsieur where a first and a last name follow.
	const tokens = name.replace(/^[MD]\.\s+(?=\S+\s+\S)/, '').split(/\s+/);
	const [only = '', ...rest] = tokens;
	if (rest.length === 0) return { firstName: only, lastName: '' };
	if (/^[\p{scx=Han}\p{scx=Hangul}\p{scx=Hiragana}\p{scx=Katakana}\s]+$/u.test(name)) {
		return { firstName: rest.join(' '), lastName: only };
	}
	const end = tokens.findIndex((word) => !isInCapitals(word) && !isParticle(word));
	if (end > 0 && isInCapitals(tokens[end - 1] ?? '') && !tokens.slice(end).some(isInCapitals)) {
		return namesOf(tokens.slice(end), tokens.slice(0, end));
	}
	let begin = tokens.length - 1;
	const isJoined = () => isParticle(tokens[begin - 1] ?? '') || /^[yei]$/.test(tokens[begin] ?? '');
	while (begin > 1 && isJoined()) begin--;
	return namesOf(tokens.slice(0, begin), tokens.slice(begin));
}

function namesOf(first: string[], last: string[]): { firstName: string; lastName: string } {
	return { firstName: withoutMiddle(first), lastName: last.join(' ') };
}
