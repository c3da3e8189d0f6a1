import { Refusal } from './answers';
import type { Operation, Schema } from './contract';
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

/**
 * Does the work of an operation (docs/service.md, Operations); taking the credits is left to the caller.
 * @throws Refusal
 */
export function workOn({ id, data }: Operation, work: Work): Done {
	return operations[id]?.(work) ?? { data: example(data) as object, cost: 0 };
}

/** What an operation answers whose work nobody has written down here: anything that its schema allows. */
function example(schema: Schema = {}): unknown {
	const {
		type,
		properties = {},
		items,
		enum: values,
	} = schema as {
		type?: string;
		properties?: Record<string, Schema>;
		items?: Schema;
		enum?: unknown[];
	};
	if (values) return values[0];
	if (type === 'array') return [example(items)];
	if (type === 'boolean') return true;
	if (type === 'number' || type === 'integer') return 1;
	if (type !== 'object') return 'text';
	return Object.fromEntries(
		Object.entries(properties).map(([name, inner]) => [name, example(inner)]),
	);
}

/** The limit of a request that names none. */
const DEFAULT_LIMIT = 100;
/** When every account gets new credits. */
const RESET_DATE = '2030-01-01T00:00:00.000Z';

const operations: Partial<Record<string, (work: Work) => Done>> = {
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
		needCredits(account, settings.cost.findBusiness);
		const found = businessEmail(settings.seed, body as Person & { company: string });
		if (found === undefined) throw nobody();
		if (found.confidence >= 0.9) sureEmails.add(found.email);
		return { data: found, cost: settings.cost.findBusiness };
	},

	findPersonalEmail: ({ settings, account, body }) => {
		needCredits(account, settings.cost.findPersonal);
		const found = personalEmail(settings.seed, body as Person & { location?: string });
		if (found === undefined) throw nobody();
		return { data: found, cost: settings.cost.findPersonal };
	},

	verifyEmail: ({ settings, account, sureEmails, body }) => {
		needCredits(account, settings.cost.verify);
		const { email } = body as { email: string };
		return {
			data: verification(settings.seed, email, sureEmails.has(email.trim().toLowerCase())),
			cost: settings.cost.verify,
		};
	},
};

function needCredits(account: Account, cost: number): void {
	if (account.credits < cost) {
		const [needed, left] = [String(cost), String(account.credits)];
		throw new Refusal('INSUFFICIENT_CREDITS', `${needed} credits needed, ${left} left`);
	}
}

/** How a finder says that nobody was found; it is free (docs/service.md, What is not known). */
function nobody(): Refusal {
	return new Refusal('NOT_FOUND', 'No email was found');
}
