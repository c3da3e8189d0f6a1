import { createHash } from 'node:crypto';

/** Hexadecimal digits that depend on nothing but the arguments. */
export function digest(...parts: Array<string | number>): string {
	return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/** Another one finds other people; tests know what this one finds. */
const SEED = 1;

/** A number from 0 up to 1 that depends on nothing but its arguments. */
function chance(...parts: string[]): number {
	return parseInt(digest(SEED, ...parts).slice(0, 12), 16) / 2 ** 48;
}

/** What a finder goes by; at least one name is there. */
export interface Person {
	firstName?: string;
	lastName?: string;
	company?: string;
	linkedinUrl?: string;
	location?: string;
}

/** Lowest and highest confidence of the confidence bands of docs/service.md. */
const BANDS = { sure: [0.9, 1], high: [0.7, 0.89], medium: [0.5, 0.69], low: [0.1, 0.49] } as const;
const FREE_PROVIDERS = ['gmail.com', 'yahoo.com', 'outlook.com', 'hotmail.com', 'icloud.com'];
/** Where people work who are looked up by their profile, and those of example leads. */
const COMPANIES = ['acme.example', 'initech.example', 'umbrella.example', 'globex.example'];
const DISPOSABLE_PROVIDERS = ['mailinator.com', 'guerrillamail.com', '10minutemail.com'];

/**
 * The business email of a person (docs/service.md, Operations), or undefined if nobody is found, which is so for
 * about 1 in 12. The same name and company always give the same. A first or last name `Nobody` is
 * never found; `Sure`, `High`, `Medium` and `Low` force the band of confidence.
 */
export function businessEmail(person: Person) {
	const { linkedinUrl } = person;
	const company = person.company ?? oneOf(COMPANIES, chance('company', linkedinUrl ?? ''));
	const found = lookUp(person, company);
	if (found === undefined) return undefined;
	const domain = company.includes('.') ? company.trim().toLowerCase() : `${slug(company)}.com`;
	const sources = ['company_website'];
	if (linkedinUrl !== undefined || found.draw < 0.5) sources.unshift('linkedin');
	return { email: `${found.local}@${domain}`, confidence: found.confidence, sources };
}

/** The personal email of a person (docs/service.md, Operations) by the rules of {@link businessEmail}. */
export function personalEmail(person: Person) {
	const found = lookUp(person, person.location ?? '');
	if (found === undefined) return undefined;
	const provider = oneOf(FREE_PROVIDERS, found.draw);
	return { email: `${found.local}@${provider}`, confidence: found.confidence };
}

function lookUp({ firstName = '', lastName = '' }: Person, place: string) {
	const key = [firstName, lastName, place].map((part) => part.trim().toLowerCase());
	const draw = (what: string) => chance(what, ...key);
	const names = key.slice(0, 2);
	const band = Object.entries(BANDS).find(([name]) => names.includes(name))?.[1];
	if (names.includes('nobody') || (!band && draw('found') < 1 / 12)) return undefined;
	const [low, high] = band ?? oneOf(Object.values(BANDS), draw('band'));
	return {
		local: localPart(firstName, lastName, draw('pattern') < 0.7),
		confidence: Math.round((low + draw('confidence') * (high - low)) * 100) / 100,
		draw: draw('source'),
	};
}

/** `ada.okafor` or `aokafor`; of a person with one name, that name. */
function localPart(firstName: string, lastName: string, isLong: boolean): string {
	const [first = '', last] = [firstName, lastName].filter((name) => name.trim() !== '').map(slug);
	if (last === undefined) return first;
	return isLong ? `${first}.${last}` : `${first.slice(0, 1)}${last}`;
}

/** One of a list, by a number from 0 up to 1. */
function oneOf<T>(list: T[], draw: number): T {
	return list[Math.floor(draw * list.length)] as T;
}

/** Lower-case ASCII letters and digits; for text without any, a short digest of it. */
function slug(text: string): string {
	const plain = text
		.normalize('NFKD')
		.toLowerCase()
		.replace(/[^a-z0-9]/g, '');
	return plain === '' ? `x${digest(text).slice(0, 6)}` : plain;
}

/** How the local part of an address begins forces the verdict on it. */
const VERDICTS = {
	valid: 'valid',
	disposable: 'valid',
	invalid: 'invalid',
	catchall: 'catch_all',
	unknown: 'unknown',
};

/**
 * The verdict on an address (docs/service.md, Operations), forced by {@link VERDICTS} or by `isSure`. Others are mostly
 * valid, and the same address always has the same.
 */
export function verification(email: string, isSure: boolean) {
	const match = /^([^@\s]+)@([^@\s]+\.[^@\s]+)$/.exec(email.trim().toLowerCase());
	const [, local = 'invalid', domain = ''] = match ?? [];
	const forced = Object.entries(VERDICTS).find(([beginning]) => local.startsWith(beginning))?.[1];
	const status = forced ?? verdict(isSure ? 0 : chance('verify', local, domain));
	return {
		email,
		status,
		deliverable: status === 'valid',
		disposable: local.startsWith('disposable') || DISPOSABLE_PROVIDERS.includes(domain),
		freeProvider: FREE_PROVIDERS.includes(domain),
	};
}

function verdict(draw: number): string {
	if (draw < 0.6) return 'valid';
	if (draw < 0.8) return 'invalid';
	return draw < 0.9 ? 'catch_all' : 'unknown';
}

const FIRST_NAMES = ['Ada', 'Bruno', 'Chiara', 'Deniz', 'Elif', 'Farah', 'Goran', 'Hanna'];
const LAST_NAMES = ['Okafor', 'Silva', 'Ricci', 'Kaya', 'Novak', 'Haddad', 'Tanaka', 'Lindqvist'];
const TITLES = ['Head of Sales', 'VP Marketing', 'Recruiter', 'CTO'];

/** Example lead records; what a lead looks like is not known (docs/service.md). Each has an address of its own. */
export function exampleLeads(scrapeId: string, count: number) {
	return Array.from({ length: count }, (_, index) => {
		const id = digest(scrapeId, index).slice(0, 6);
		const pick = (list: string[]) => oneOf(list, chance(String(list[0]), id));
		const [firstName, lastName, company] = [pick(FIRST_NAMES), pick(LAST_NAMES), pick(COMPANIES)];
		const name = `${firstName} ${lastName}`;
		const email = `${slug(firstName)}.${slug(lastName)}.${id}@${company}`;
		return { name, email, jobTitle: pick(TITLES), company };
	});
}
