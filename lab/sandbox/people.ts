import { createHash } from 'node:crypto';

/** A number from 0 up to 1 that depends on nothing but its arguments. */
export function chance(...parts: Array<string | number>): number {
	return parseInt(digest(...parts).slice(0, 12), 16) / 2 ** 48;
}

/** 64 hexadecimal digits that depend on nothing but the arguments. */
export function digest(...parts: Array<string | number>): string {
	return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

export interface Person {
	firstName: string;
	lastName: string;
	linkedinUrl?: string;
}

/** Lowest and highest confidence of the confidence bands of docs/service.md. */
const BANDS = { sure: [0.9, 1], high: [0.7, 0.89], medium: [0.5, 0.69], low: [0.1, 0.49] } as const;
const FREE_PROVIDERS = ['gmail.com', 'yahoo.com', 'outlook.com', 'hotmail.com', 'icloud.com'];
const DISPOSABLE_PROVIDERS = ['mailinator.com', 'guerrillamail.com', '10minutemail.com'];

/**
 * The business email of a person (docs/service.md, Operations), or undefined if nobody is found, which is so for
 * about 1 in 12. The same name and company always give the same. A first or last name `Nobody` is
 * never found; `Sure`, `High`, `Medium` and `Low` force the band of confidence.
 */
export function businessEmail(seed: number, person: Person & { company: string }) {
	const found = lookUp(seed, person, person.company);
	if (found === undefined) return undefined;
	const domain = person.company.includes('.')
		? person.company.trim().toLowerCase()
		: `${slug(person.company)}.com`;
	const sources = ['company_website'];
	if (person.linkedinUrl !== undefined || found.draw < 0.5) sources.unshift('linkedin');
	return { email: `${found.local}@${domain}`, confidence: found.confidence, sources };
}

/** The personal email of a person (docs/service.md, Operations) by the rules of {@link businessEmail}. */
export function personalEmail(seed: number, person: Person & { location?: string }) {
	const found = lookUp(seed, person, person.location ?? '');
	if (found === undefined) return undefined;
	const provider = FREE_PROVIDERS[Math.floor(found.draw * FREE_PROVIDERS.length)] ?? 'gmail.com';
	return { email: `${found.local}@${provider}`, confidence: found.confidence };
}

function lookUp(seed: number, { firstName, lastName }: Person, place: string) {
	const key = [firstName, lastName, place].map((part) => part.trim().toLowerCase());
	const draw = (what: string) => chance(seed, what, ...key);
	const forced = key.slice(0, 2);
	if (forced.includes('nobody')) return undefined;
	const bands = Object.entries(BANDS);
	const named = bands.find(([name]) => forced.includes(name));
	if (named === undefined && draw('found') < 1 / 12) return undefined;
	const [, [low, high]] = named ??
		bands[Math.floor(draw('band') * bands.length)] ?? ['sure', BANDS.sure];
	const first = slug(firstName);
	const last = slug(lastName);
	return {
		local: draw('pattern') < 0.7 ? `${first}.${last}` : `${first.slice(0, 1)}${last}`,
		confidence: Math.round((low + draw('confidence') * (high - low)) * 100) / 100,
		draw: draw('source'),
	};
}

/** Lower-case ASCII letters and digits; for text without any, a short digest of it. */
function slug(text: string): string {
	const plain = text
		.normalize('NFKD')
		.toLowerCase()
		.replace(/[^a-z0-9]/g, '');
	return plain === '' ? `x${digest(text).slice(0, 6)}` : plain;
}

/**
 * The verdict on an address (docs/service.md, Operations). A local part that starts with `valid`, `invalid`,
 * `catchall`, `unknown` or `disposable` forces it, and so does `knownValid`; otherwise the seed
 * decides, mostly for valid.
 */
export function verification(seed: number, email: string, knownValid: boolean) {
	const match = /^([^@\s]+)@([^@\s]+\.[^@\s]+)$/.exec(email.trim().toLowerCase());
	const local = match?.[1] ?? 'invalid';
	const domain = match?.[2] ?? '';
	const status = verdict(local, knownValid ? 0 : chance(seed, 'verify', local, domain));
	return {
		email,
		status,
		deliverable: status === 'valid',
		disposable: local.startsWith('disposable') || DISPOSABLE_PROVIDERS.includes(domain),
		freeProvider: FREE_PROVIDERS.includes(domain),
	};
}

function verdict(local: string, draw: number): 'valid' | 'invalid' | 'catch_all' | 'unknown' {
	if (local.startsWith('valid') || local.startsWith('disposable')) return 'valid';
	if (local.startsWith('invalid')) return 'invalid';
	if (local.startsWith('catchall')) return 'catch_all';
	if (local.startsWith('unknown')) return 'unknown';
	if (draw < 0.6) return 'valid';
	if (draw < 0.8) return 'invalid';
	return draw < 0.9 ? 'catch_all' : 'unknown';
}

/** Example lead records; what a lead looks like is not known (docs/service.md). */
export function exampleLeads(seed: number, scrapeId: string, count: number) {
	return Array.from({ length: count }, (_, index) => ({
		name: `Lead ${String(index + 1)}`,
		email: `lead.${digest(seed, scrapeId, index).slice(0, 6)}@example.com`,
	}));
}
