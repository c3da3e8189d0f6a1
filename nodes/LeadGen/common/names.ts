/** The first and the last name of a person, as lists hold them: with titles, degrees and notes, or in one field. */
import { mustBe, saysNone, toName } from './values';

/** Matches each word of a list, in any case. The words are patterns. */
const oneOf = (words: string) => new RegExp(`^(?:${words.trim().replace(/\s+/g, '|')})$`, 'iu');

/** Titles and forms of address, also without a full stop. */
const TITLES = oneOf(String.raw`
	mrs? ms miss mx mlle mme monsieur madame maître sir lord lady the rt d?dr prof professor do[ck]tor herrn? frau
	familie rev capt chief dott sra srta señora? signora? dipl mmag kommr stb mw dhr mevr mgr judr mudr mvdr phdr rndr
	hab inż pani et shri smt adv engr atty rabbi barrister colonel ambassador alhaj[ia] sheikha? dat(?:uk|in|o'?) encik puan khun hofrat sayın г-н
	г-жа д-р dª \p{L}{2,6}[ºª] (?:أ\.)?د م श्री(?:मती)? डॉ นาย นาง(?:สาว)? คุณ`);
/** A word with a full stop before the names is a title, as `Dott.ssa`, but for most of two letters, and given names. */
const TITLE =
	/^(?!(?:abd|alex|ant|aug|benj|chas|chr|edw|fco|friedr|geo|gpe|heinr|jas|joh|jos|mhd|mohd?|mst|muhd?|robt|saml|ste|thos|wilh)\.)(?:\p{L}{3,7}|\p{L}r|bc|ca|lt|hj|pt|me|av|ao|op|da|ts|δρ)\.[\p{L}ªº.-]*$/iu;
/** Titles only in this spelling, with two names behind them, which can also be names. */
const EXACT_TITLE = /^(?:Me|RA|RAin|PD|DI|WP|CA|Pan|Lt|Col|Gen|Sgt|Major|Judge|Sister|Dame)$/;

/** Suffixes behind a name, in any case and without full stops, and abbreviations with one. */
const SUFFIX = oneOf('jn?r sr esq e?mba phd [mb]sc ll[mb] cpa cfa hanım bey 様 先生 さん 氏 씨 님');
const ABBREVIATION = /^(?:\p{Ll}{2,4}|Jun|Sen|Ret|Hon|Ing)\.$/u;
/** Degrees by their form, without full stops: PhD, PharmD, DrPH, MSc, PEng; of institutes: FRICS, ACCA; and CEO. */
const DEGREE =
	/^\p{Lu}{1,4}(?:(?<=\p{Lu}{2})\p{Ll}{1,4}|\p{Ll}{1,5}\p{Lu}{1,2})$|^(?:MD|RN|PE|[MB]A|[CDKMO]BE|[AFM]?CIP[DSM]|[AFM]R(?:ICS|SA)|[AF]?CC?A|AIA|CIMA|(?:AC|CG)MA|C[EFIMOT]O|CISS?[AMP])$/u;

/** Words that belong to the last name behind them, also with a capital. */
const PARTICLES = oneOf(String.raw`
	v[ao][nm] zu[mr]? de[rnls'’]? dell[aeo] degli d[aiou] dal(la)? d[ao]s l[aeo]s? el al bin(ti?)? ibn ben bar ab[ou]u?
	abd([eu]l)? ould a[iï]t te[rn]? op san santa são saint ste? st\. ma?c ['’‘ʼ${'`'}´]t [odl]['’‘ʼ${'`'}´] o ó ní nic uí ap
	a/[lp] [sd]/o delos dela vander vanden freiherr freifrau graf gräfin baron بن ابن بنت آل أبو عبد בן בר בת`);
/** Behind small particles in names of two given names: Maria da Graça, María del Carmen. */
const DEVOTION =
	/^(?:concei|gra[çc]a|carm|gl[óo]ria|luz|f[áa]tima|c[ée]u|ros[áa]rio|lourdes|paz|penha|dores|dolor|anjos|[áa]ngel|neves|assun|piedade|sa[úu]de|pilar|mar$|roc[íi]o|jes[úu]s|dios)/i;
/** The first of two last names: `Gabriel García Márquez`, `Muñoz`, `Díaz`, `Ferreira`, `Larsson`, `Jansen`. */
const FIRST_OF_TWO =
	/\p{L}(?:[^ei][eé]z|[ií]az|[uú]ñoz|\p{L}eira|[^i]sson|\p{L}[nrlkdt]sen)$|^(?:garc[íi]a|ruiz|ortiz|silva|santos|sou[sz]a|ا?بنت?|ortega|castro|vargas|rojas|morales|torres|herrera|moreno|molina|navarro|delgado|guerrero|mendoza|ramos|restrepo|mej[íi]a|acosta|aguilar|cabrera)$/iu;
/** Other last names by their form: `Kowalski`, `Nováková`, `Virtanen`, `Popescu`, `Ivanova`. */
const LAST_NAME =
	/\p{L}(?:[^i]sk[aiy]|wick[ai]|ová|vić|escu|ск(?:ий|ая)|ник|чук|\p{L}{3}(?:nen|enko|[ея]нко|ov|[^d]ev|[ое]в)[aа]?)$/u;
/** Vietnamese, Hungarian and Chinese last names, which are written in front. */
const IN_FRONT = oneOf(`nguy[eễ]n tr[aầ]n ph[aạ]m lê hu[yỳ]nh phan võ đặng bùi đỗ ngô
	nagy kov[áa]cs t[óo]th szab[óo] horv[áa]th varga moln[áa]r n[ée]meth farkas zhang wang huang zhao zhou xu guo luo`);
/** In Chinese, Japanese and Korean, there is no space between the last and the first name. */
const WITHOUT_SPACE =
	/^(佐々木|欧阳|歐陽|司[马馬徒]|上官|[诸諸]葛|\p{sc=Han}{1,3}(?=\p{sc=Hira}{2,3}$)|[\p{sc=Han}\p{sc=Hang}]{1,2}(?=..$)|[\p{sc=Han}\p{sc=Hang}](?=.$))([\p{sc=Han}\p{sc=Hang}\p{sc=Hira}]+)$/u;
/** Korean and Chinese first names of two syllables that follow a last name: `Kim Min-jun`, `Tan Wei Ming`. */
const SYLLABLES =
	/^\p{Lu}\p{Ll}{1,4} (?!(?:[AE]l|Ben)-)\p{Lu}\p{Ll}{1,4}-\p{Ll}{1,4}$|^(?:Tan|Lim|Wong|Chan|Ng|Ong|Goh|Chua|Koh|Teo|Yeo|Cheung|Leung|Kwok|Lau|Park|Choi|Jung|Kang)(?: \p{Lu}\p{Ll}{1,4}){2}$/u;
/** Patronymics, which belong to no email: `Ivanovich`, `Сергеевна`. */
const PATRONYMIC = /.(?:[oe]v(?:ich|na)|(?:[ое]в|ь)ич|(?:[ое]в|[иь]нич)на)$/;

/** What joins two last names, and the Brazilian forms of Junior, which belong to a last name. */
const JOINING = oneOf('[yei] filho neto sobrinho j[úu]nior');

/** Behind two words, a sign that no name has begins a note. Question marks and asterisks can be hidden letters. */
const SIGN =
	/^(['’‘]?\p{L}\S*\s+\p{L}.*?)(?:[^\p{L}\p{M}\p{N}\p{Pd}−\s.,;'’‘´`′"“”„«»&+/()[\]?*•…█·]|\/\/).*$/su;
const NOTE =
	/(?:\s(?:[-–—|•·]+(?:\s|$)|\d|n[ée]e\s|geb\.|a\.?k\.?a\b|at\s|w\/|(?:she|he|they)\/)|[–—]\s).*$/s;

/** Behind it, a space is missing: `J.Smith`, `Dr.Max Huber`. */
const FULL_STOP =
	/^(?:\p{Lu}\.)+(?=\p{Lu}\p{Ll})|(?<=(?:^|[\s.])\p{L}{2,6}\.)(?=\p{Lu}\p{Ll}[^\s.]*[\s.])/gu;

/** Also behind a hyphen: `Visser-de Boer`. */
const isParticle = (word = '') => PARTICLES.test(word.replace(/^.*-(?=\p{Ll})/u, ''));
const isSmall = (word = '') => /^['’]?\p{Ll}[\p{Ll}.]*$/u.test(word);
const isInitial = (word = '') => /^(?:\p{Lu}\.-?)+$|^[A-NP-Z]$/u.test(word);
const isInCapitals = (word = '') => /^(?:Ma?c)?\p{Lu}[\p{Lu}'’-]+$/u.test(word);
/** Initials and most degrees are not spoken as a word: `KVR`, `DVM`, `SHRM-CP`. */
const isSpoken = (text: string) =>
	/[B-DF-HJ-NP-TV-XZ][AEIOUY]|[^ -~’]|^NG$/.test(text.replace(/^.*-/, ''));
const isUnspoken = (word: string) =>
	(/^\p{Lu}{2,5}(?:-\p{Lu}{1,4})?$/u.test(word) && !isSpoken(word)) ||
	/^\p{Lu}+\.(?:\p{Lu}\.?)+$/u.test(word);
const hasSmallLetters = (words: string[]) => /\p{Ll}/u.test(words.join(''));
const isTitle = (word = '') =>
	word !== 'MS' && (TITLES.test(word.replace(/[./]$/, '')) || TITLE.test(word));
/** What is no name behind the first word, or behind two names. Also with full stops: `Ph.D.`. */
const isSuffix = (word: string) => ABBREVIATION.test(word) || SUFFIX.test(word.replaceAll('.', ''));
const isDegree = (word: string) => DEGREE.test(word.replaceAll('.', ''));

/** A name without brackets, nicknames, notes and signs. @throws InputError for what is none */
function withoutNotes(text: string, displayName: string): string {
	const name = text
		.replace(/\([^()]*\)|\[[^[\]]*\]|(?<=\s)["“„«'‘][^"“”„«»'‘’]*["”“»'’](?=\s|$)/g, ' ')
		.replace(/^(?:[^\p{L}'’‘´`]|['’‘´`](?!t\s|\p{Ll}\s))+/u, '')
		.replace(/\s[-–—]\s(?=(\p{Ll}+)\s)/gu, (dash, word: string) => (isParticle(word) ? '-' : dash))
		.replace(SIGN, '$1')
		.replace(NOTE, '');
	return toName(name, displayName)
		.replace(/[^\p{L}\p{M}\p{N}\p{Pd}−\s.,;'’‘´`′&+/·・]+/gu, ' ')
		.replace(/^(?:(?:tan|puan|dat(?:uk|in|o'?)) se?ri\s)+|(?<=\p{L}{4})\.\s*$|['’]\s*$/giu, '')
		.replace(FULL_STOP, '$& ')
		.trim();
}

/** The words of a name without titles and degrees. At least one stays, and `least` in front of a degree such as MA. */
function wordsOf(name: string, least: number): string[] {
	const all = name.split(/\s+/).filter((word) => /[^-–—.]/.test(word));
	const isBefore = (word = '') =>
		isTitle(word) ||
		(/^(?!v\.)\p{Ll}+\./u.test(word) && /^\p{Lu}/u.test(all.at(-1) ?? '')) ||
		(EXACT_TITLE.test(word) && !isInCapitals(all[1]) && all.length > least);
	while (all.length > 1 && isBefore(all[0])) all.shift();
	// Capitals mean nothing if all words have them. Behind a degree there are only more of them.
	const isEnd = (word: string) =>
		isDegree(word) || (/\p{Ll}/u.test(all[0] ?? '') && isUnspoken(word));
	const end = all.findIndex(
		(word, at) => at > 0 && (isSuffix(word) || (at >= least && isEnd(word))),
	);
	return end > 0 ? all.slice(0, end) : all;
}

/** A first or a last name without titles, degrees, notes and signs: `Okafor, MBA` gives `Okafor`. */
export function plainName(text: string, displayName: string): string {
	const [name = '', behind = ''] = withoutNotes(text, displayName).split(/[,;]\s*/);
	const words = wordsOf(name, 1).join(' ');
	return behind.split(' ').every(isParticle) ? `${words} ${behind}` : words;
}

/** Whether a part behind a comma has only titles and degrees. */
const isSurplus = (part: string) =>
	part.split(/[\s/&]+/).every((word) => !word || isSuffix(word) || isDegree(word) || isTitle(word));

/** Whether all words before a comma are a last name: `van Dijk, Jan`, `GARCÍA LORCA, Ana`, `Ruiz Vega, Ana`. */
const isLastName = ([first = '', second = '', ...others]: string[]) =>
	!second ||
	!hasSmallLetters([first, second, ...others]) ||
	(isParticle(first) && !/^(Ben|Al|Mac)$/.test(first)) ||
	JOINING.test(second) ||
	FIRST_OF_TWO.test(first);

/** How many words in front are the last name, in scripts, languages and lists that begin with it. */
function lastNameInFront(all: string[]): number {
	const [first = '', last = ''] = [all[0], all.at(-1)];
	const particles = all.findIndex((word) => !isParticle(word));
	const isDutch = /^(?:Van|De|Vanden|Vander)$/.test(first) && all.length > particles + 1;
	if (particles > 0 && (isSmall(first) || isDutch)) return particles + 1;
	const isOne = (word: string) =>
		FIRST_OF_TWO.test(word) || LAST_NAME.test(word) || IN_FRONT.test(word);
	if (isOne(first) && !isOne(last)) return all.findIndex((word) => !isOne(word));
	const isPatronymic = PATRONYMIC.test(last) && all.length === 3;
	const isInFront = isPatronymic || SYLLABLES.test(all.join(' '));
	return isInFront || /^[\p{sc=Han}\p{sc=Hangul}]+$/u.test(first) ? 1 : 0;
}

/** The words of the first and of the last name in those of a whole one. */
function splitWords(all: string[]): [first: string[], last: string[]] {
	const isCapital = (word: string) => isInCapitals(word) || (isSmall(word) && isParticle(word));
	const capitals = all.filter(isCapital);
	const others = all.filter((word) => !isCapital(word));
	const text = capitals.filter(isInCapitals).join('');
	// `SAM Smith` and `KVR Reddy` have first names in capitals, `DUPONT Jean` and `KIM Min-jun` last names.
	const isLong = text.length > 3 || /-\p{Ll}/u.test(others[0] ?? '');
	const isLast = isInCapitals(all[0]) ? isLong : isInCapitals(all.at(-1));
	if (isLast && isSpoken(text) && hasSmallLetters(others)) return [others, capitals];
	const inFront = lastNameInFront(all);
	if (inFront > 0) return [all.slice(inFront), all.slice(0, inFront)];
	const hasCapital = /\p{Lu}/u.test(all.at(-1) ?? '');
	const isDevotion = (index: number) =>
		DEVOTION.test(all.slice(index).find((word) => !isParticle(word)) ?? '');
	const isBefore = (word: string) => isParticle(word) || (hasCapital && isSmall(word));
	const least = Math.max(1, all.slice(0, -1).findLastIndex((word) => !isBefore(word)) + 1);
	const begin = all.findIndex(
		(word, index) =>
			index > 0 &&
			(index === least ||
				FIRST_OF_TWO.test(word) ||
				(hasCapital && isSmall(word) && !isDevotion(index)) ||
				JOINING.test(all[index + 1] ?? '')),
	);
	// Four names are mostly two and two: Diego Fernando Castro Ríos.
	const names = all.filter((word) => !isParticle(word));
	const areNames = names.length === 4 && begin === all.length - 1 && !names.some(isInitial);
	const at = areNames ? all.indexOf(names[2] ?? '') : begin;
	return [all.slice(0, at), all.slice(at)];
}

/** The names in a full one, such as `Okafor, Ada`. @throws InputError for what is none, and for several people */
export function splitName(full: string, displayName: string) {
	const name = withoutNotes(full, displayName);
	const parts = name.split(/;|\s\/\s/);
	const people = parts.filter((part) => /\S[\s,]+\S/.test(part) && !isSurplus(part));
	const [head = '', ...behind] = name.split(/[,;]|\s\/\s/);
	if (people.length > 1 || /\s[&+]\s|\sand\s|(?<!von)\sund\s|(?<!\.)\set\s/.test(head))
		throw mustBe('the name of one person', full, displayName);
	const all = wordsOf(head, 2);
	const isDegrees = (part: string) => all.length > 1 && isUnspoken(part) && /\p{Lu}{3}/u.test(part);
	const isFirst = (part: string) => isLastName(all) && !isSurplus(part) && !isDegrees(part);
	const before = behind.map((part) => part.trim()).find(isFirst);
	const [one = ''] = all;
	if (before !== undefined) return namesOf(wordsOf(before, 2), all);
	if (saysNone(full) || (all.length < 2 && isTitle(one))) throw mustBe('a name', full, displayName);
	if (all.length > 1) return namesOf(...splitWords(all));
	const [, last, first] = WITHOUT_SPACE.exec(one) ?? [];
	if (last && first) return namesOf([first], [last]);
	// Behind a title, a single word is the last name.
	return name === one ? namesOf(all, []) : namesOf([], all);
}

/** The two names as they are sent, without initials in the middle: `John F.` gives `John`, `J. R. R.` stays. */
export function namesOf(first: string[], last: string[]) {
	const isInOneCase = !hasSmallLetters([...first, ...last]);
	const isMoved = (word: string) => isParticle(word) && (isInOneCase || isSmall(word));
	const endOf = (words: string[]) => words.findLastIndex((word) => !isMoved(word)) + 1;
	const [end, at] = [last.length > 0 ? endOf(first) : first.length, endOf(last)];
	const names = first.slice(0, end);
	const hasName = !names.every(isInitial);
	const isSurplusName = (word: string, index: number) =>
		(hasName && isInitial(word)) ||
		(index > 0 && PATRONYMIC.test(word)) ||
		(last.length > 0 && isTitle(word));
	const lastNames = [...first.slice(end), ...last.slice(at), ...last.slice(0, at)];
	const begin = lastNames.findIndex((word) => !isInitial(word));
	return {
		firstName: names.filter((word, index) => !isSurplusName(word, index)).join(' '),
		lastName: lastNames.slice(Math.max(begin, 0)).join(' '),
	};
}
