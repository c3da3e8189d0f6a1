/** What a finder goes by; at least one name is there. */
export interface Person {
	firstName?: string;
	lastName?: string;
	company?: string;
	linkedinUrl?: string;
}

/** The confidence in the addresses of everybody whose first or last name is not below. */
const EVERYBODY_ELSE = { business: 0.97, personal: 0.95 };
/** Without a number, there is no such address. Haddad, Novak and Tanaka are people of a template. */
const NAMES: Record<string, Partial<typeof EVERYBODY_ELSE> | undefined> = {
	nobody: {},
	novak: { personal: 0.95 },
	high: { business: 0.8, personal: 0.7 },
	haddad: { business: 0.8, personal: 0.7 },
	medium: { business: 0.6, personal: 0.5 },
	low: { business: 0.3, personal: 0.2 },
};

/** Verdicts by what is in the local part of an address; every other address is valid. */
const VERDICTS = {
	invalid: 'invalid',
	catchall: 'catch_all',
	tanaka: 'catch_all',
	unknown: 'unknown',
};
const FREE_PROVIDERS = ['gmail.com', 'yahoo.com', 'outlook.com', 'hotmail.com', 'icloud.com'];

/** `ada.okafor@acme.com`, or undefined if nobody is found. A profile says nothing of the company. */
export function businessEmail(person: Person) {
	const { company = 'acme.example', linkedinUrl } = person;
	const confidence = rowOf(person).business;
	if (confidence === undefined) return undefined;
	const sources = [...(linkedinUrl === undefined ? [] : ['linkedin']), 'company_website'];
	return { email: `${localPart(person)}@${company}`, confidence, sources };
}

/** `ada.okafor@gmail.com`, or undefined if nobody is found. */
export function personalEmail(person: Person) {
	const confidence = rowOf(person).personal;
	if (confidence === undefined) return undefined;
	return { email: `${localPart(person)}@gmail.com`, confidence };
}

/** What is known of an address; a text that is none is invalid. */
export function verification(email: string) {
	const match = /^([^@\s]+)@([^@\s]+\.[^@\s]+)$/.exec(email.trim().toLowerCase());
	const [, local = 'invalid', domain = ''] = match ?? [];
	const status = Object.entries(VERDICTS).find(([part]) => local.includes(part))?.[1] ?? 'valid';
	return {
		email,
		status,
		deliverable: status === 'valid',
		disposable: local.includes('disposable'),
		freeProvider: FREE_PROVIDERS.includes(domain),
	};
}

const FIRST_NAMES = ['Ada', 'Bruno', 'Chiara', 'Deniz', 'Elif', 'Farah', 'Goran', 'Hanna'];
const LAST_NAMES = ['Okafor', 'Silva', 'Ricci', 'Kaya', 'Lindqvist'];
const TITLES = ['Head of Sales', 'VP Marketing', 'CTO'];
const COMPANIES = ['acme.example', 'initech.example'];

/** Example leads; what a lead looks like is not known (docs/service.md). No two scrapes have the same addresses. */
export function exampleLeads(scrapeId: string, count: number) {
	return Array.from({ length: count }, (_, index) => {
		const pick = (list: string[]) => list[index % list.length] ?? '';
		const [firstName, lastName, company] = [pick(FIRST_NAMES), pick(LAST_NAMES), pick(COMPANIES)];
		const local = `${localPart({ firstName, lastName })}.${slug(scrapeId).slice(-6)}${String(index)}`;
		const name = `${firstName} ${lastName}`;
		return { name, email: `${local}@${company}`, jobTitle: pick(TITLES), company };
	});
}

function rowOf({ firstName = '', lastName = '' }: Person) {
	return NAMES[slug(lastName)] ?? NAMES[slug(firstName)] ?? EVERYBODY_ELSE;
}

function localPart({ firstName = '', lastName = '' }: Person): string {
	return [firstName, lastName].map(slug).filter(Boolean).join('.');
}

/** Lower-case ASCII letters and digits; a text without any in other digits. */
function slug(text: string): string {
	const plain = text.normalize('NFKD').toLowerCase();
	return plain.replace(/[^a-z0-9]/g, '') || Buffer.from(plain).toString('hex');
}
