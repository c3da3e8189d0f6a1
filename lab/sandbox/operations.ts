import { Refusal } from './answers';
import { statusAt, type Jobs, type ScrapeFilters } from './jobs';
import { businessEmail, personalEmail, verification, type Person } from './people';
import type { Account } from './settings';

/** What the work of an operation has to go by; `body` and `query` obey the schema. */
export interface Work {
	apiKey: string;
	account: Account;
	jobs: Jobs;
	body: unknown;
	query: Record<string, unknown>;
}

/** `data` of the answer, and the credits to take for it. */
type Done = { data: object; cost: number };

/** A JSON Schema. */
type Schema = Record<string, unknown>;

/** An operation of the service (docs/service.md, Operations): the request that it takes, and what it does. */
export interface Operation {
	method: 'GET' | 'POST';
	path: string;
	/** Names every query parameter there may be. */
	query?: Schema;
	/** Absent if the operation takes no body. */
	body?: Schema;
	/** Taking the credits is left to the caller. @throws Refusal if it cannot be done */
	work: (work: Work) => Done;
}

const object = (properties: Schema, ...required: string[]): Schema => {
	return { type: 'object', additionalProperties: false, required, properties };
};
/** Whether the service takes empty text, or an empty list, is not known. */
const text = { type: 'string', minLength: 1 };
const texts = { type: 'array', minItems: 1, items: text };

/** What a finder needs at least: which fields it requires is not known (docs/service.md, What is not known). */
const anyOf = (...names: string[]): Schema => ({
	anyOf: names.map((name) => ({ required: [name] })),
});
const NAME = anyOf('firstName', 'lastName');

/** The limit of a request that names none. */
const DEFAULT_LIMIT = 100;
/** Prices are not known (docs/service.md, Credits). */
const LEAD_CREDITS = 1;
const LOOKUP_CREDITS = 1;
/** When every account gets new credits. */
const RESET_DATE = '2030-01-01T00:00:00.000Z';

export const operations: Record<string, Operation> = {
	startScrape: {
		method: 'POST',
		path: '/start',
		body: object(
			{
				filters: object({
					jobTitles: texts,
					locations: texts,
					industries: texts,
					companySize: { type: 'string', pattern: '^\\d+-\\d+$' },
					limit: { type: 'integer', minimum: 1 },
				}),
				webhookUrl: { type: 'string', format: 'uri' },
			},
			'filters',
		),
		work({ apiKey, account, jobs, body }) {
			const { filters, webhookUrl } = body as { filters: ScrapeFilters; webhookUrl?: string };
			const limit = filters.limit ?? DEFAULT_LIMIT;
			const estimatedCredits = limit * LEAD_CREDITS;
			needCredits(account, estimatedCredits);
			const job = jobs.start({ account: apiKey, filters, limit, webhookUrl, estimatedCredits });
			const data = { scrapeId: job.scrapeId, status: 'pending', estimatedCredits };
			return { data, cost: estimatedCredits };
		},
	},

	getScrapeStatus: {
		method: 'GET',
		path: '/status',
		query: object({ scrapeId: text }, 'scrapeId'),
		work({ apiKey, jobs, query }) {
			const job = jobs.find(String(query.scrapeId));
			// A job of another account is as unknown as one that never was.
			if (job?.account !== apiKey) throw new Refusal('NOT_FOUND', 'No such scrape');
			return { data: statusAt(job), cost: 0 };
		},
	},

	getCredits: {
		method: 'GET',
		path: '/credits',
		work: ({ account }) => ({ data: { ...account, resetDate: RESET_DATE }, cost: 0 }),
	},

	findBusinessEmail: {
		method: 'POST',
		path: '/email/find',
		body: {
			...object({ firstName: text, lastName: text, company: text, linkedinUrl: text }),
			allOf: [NAME, anyOf('company', 'linkedinUrl')],
		},
		work: ({ account, body }) => paidLookup(account, businessEmail(body as Person)),
	},

	findPersonalEmail: {
		method: 'POST',
		path: '/email/personal',
		body: {
			...object({ firstName: text, lastName: text, linkedinUrl: text, location: text }),
			allOf: [NAME],
		},
		work: ({ account, body }) => paidLookup(account, personalEmail(body as Person)),
	},

	verifyEmail: {
		method: 'POST',
		path: '/email/verify',
		// Telling whether it is an address is what the operation is for.
		body: object({ email: text }, 'email'),
		work({ account, body }) {
			return paidLookup(account, verification((body as { email: string }).email));
		},
	},
};

/** If nobody was found, it is free (docs/service.md, What is not known). */
function paidLookup(account: Account, data: object | undefined): Done {
	needCredits(account, LOOKUP_CREDITS);
	if (data === undefined) throw new Refusal('NOT_FOUND', 'No email was found');
	return { data, cost: LOOKUP_CREDITS };
}

function needCredits(account: Account, cost: number): void {
	if (account.credits < cost) {
		const [needed, left] = [String(cost), String(account.credits)];
		throw new Refusal('INSUFFICIENT_CREDITS', `${needed} credits needed, ${left} left`);
	}
}
