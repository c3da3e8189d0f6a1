import { Refusal } from './answers';
import type { Jobs, ScrapeFilters } from './jobs';
import { businessEmail, personalEmail, verification, type Person } from './people';
import type { Account, Settings } from './settings';

/** What the work of an operation has to go by; `body` and `query` obey the contract. */
export interface Work {
	settings: Settings;
	apiKey: string;
	account: Account;
	jobs: Jobs;
	/** Addresses that were found with very high confidence. */
	sureEmails: Set<string>;
	body: unknown;
	query: Record<string, unknown>;
}

/** `data` of the answer, and the credits to take for it. */
export interface Done {
	data: object;
	cost: number;
}

/** The limit of a request that names none. */
const DEFAULT_LIMIT = 100;
/** Prices are not known (docs/service.md, Credits). */
const LOOKUP_CREDITS = 1;
/** When every account gets new credits. */
const RESET_DATE = '2030-01-01T00:00:00.000Z';

/**
 * The work of each operation of openapi.yaml (docs/service.md, Operations). Taking the credits is left to the caller. It
 * throws a Refusal if it cannot be done.
 */
export const operations: Partial<Record<string, (work: Work) => Done>> = {
	startScrape: ({ settings, apiKey, account, jobs, body }) => {
		const { filters, webhookUrl } = body as { filters: ScrapeFilters; webhookUrl?: string };
		const limit = filters.limit ?? DEFAULT_LIMIT;
		const estimatedCredits = Math.ceil(limit * settings.cost.startPerLead);
		needCredits(account, estimatedCredits);
		const job = jobs.start({
			account: apiKey,
			filters,
			limit,
			webhookUrl,
			estimatedCredits,
		});
		const data = { scrapeId: job.scrapeId, status: 'pending', estimatedCredits };
		return { data, cost: estimatedCredits };
	},

	getScrapeStatus: ({ settings, apiKey, jobs, query }) => {
		const job = jobs.find(String(query.scrapeId));
		// A job of another account is as unknown as one that never was.
		if (job?.account !== apiKey) throw new Refusal(settings.unknownScrape, 'No such scrape');
		return { data: jobs.statusOf(job), cost: 0 };
	},

	getCredits: ({ account }) => ({ data: { ...account, resetDate: RESET_DATE }, cost: 0 }),

	findBusinessEmail: ({ settings, account, sureEmails, body }) => {
		const found = businessEmail(settings.seed, body as Person & { company: string });
		if (found && found.confidence >= 0.9) sureEmails.add(found.email);
		return paidLookup(account, found);
	},

	findPersonalEmail: ({ settings, account, body }) =>
		paidLookup(account, personalEmail(settings.seed, body as Person & { location?: string })),

	verifyEmail: ({ settings, account, sureEmails, body }) => {
		const { email } = body as { email: string };
		const isSure = sureEmails.has(email.trim().toLowerCase());
		return paidLookup(account, verification(settings.seed, email, isSure));
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
