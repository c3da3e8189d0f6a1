/** The parts of a name. */
/** Titles and forms of address; behind them may follow parts such as `rer. nat.`. */
const TITLES = words(
	'mr mrs ms miss mx sir dr drs dres prof profdr professor doctor doktor herr frau mme mlle monsieur madame dott dottssa dottore sra srta señor señora signor signora dipl univ priv mudr judr rndr phdr shri smt engr',
);
/** Titles only with a full stop, since they are names, too. */
const TITLES_WITH_STOP = words(
	'hr fr ing mag rev hon lic arq avv bc mgr ir adv capt col lt gen maj sgt sr',
);
/** Degrees and suffixes at the end of a name. */
const SUFFIXES = words(
	'jr sr ii iii iv esq mba emba phd dphil md dds dmd edd jd msc bsc meng beng llm llb cpa cfa pmp rn',
);
/** Degrees that look like initials where they have full stops. */
const DEGREES_LIKE_INITIALS = words(
	'ba ma bs ms be me pe rd do dc dba dvm dnp mph mpa mfa msw bba bfa lpc cfp phr csw bsn msn rph',
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
	return TITLES.has(name) || (word.endsWith('.') && TITLES_WITH_STOP.has(name));
}

/** Whether a part behind a comma is a suffix: only known words, or capitals behind a name in mixed case. */
function isSuffix(part: string, isBehindMixedCase: boolean): boolean {
	const isKnown = part.split(/[\s/&]+/).every((word) => SUFFIXES.has(bare(word)) || isTitle(word));
	const capitals = part.match(/\p{Lu}/gu)?.length ?? 0;
	const isShort =
		/^\p{Lu}[\p{L}\d.\s/&+-]*$/u.test(part) &&
		capitals > 1 &&
		capitals > (part.match(/\p{Ll}/gu)?.length ?? 0);
	return isKnown || (isShort && isBehindMixedCase);
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
	const [head = '', ...others] = plain.split(/[,;]/).map((part) => part.trim());
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

/** The first and the last name in a full name: `Okafor, Ada`, `Peter van der Berg` and `山田 太郎` have them in their own order. */
export function splitName(full: string): { firstName: string; lastName: string } {
	const name = plainName(full, true);
	const [last = '', first] = name.split(',').map((part) => part.trim());
	if (first !== undefined) return { firstName: plainName(first), lastName: last };
	const tokens = name.split(/\s+/);
	const [only = '', ...rest] = tokens;
	if (rest.length === 0) return { firstName: only, lastName: '' };
	if (/^[\p{scx=Han}\p{scx=Hangul}\p{scx=Hiragana}\p{scx=Katakana}\s]+$/u.test(name)) {
		return { firstName: rest.join(' '), lastName: only };
	}
	let begin = tokens.length - 1;
	const isJoined = () => isParticle(tokens[begin - 1] ?? '') || /^[yei]$/.test(tokens[begin] ?? '');
	while (begin > 1 && isJoined()) begin--;
	return { firstName: tokens.slice(0, begin).join(' '), lastName: tokens.slice(begin).join(' ') };
}
