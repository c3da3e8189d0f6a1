import { createHash } from 'crypto';
import type { ICredentialDataDecryptedObject, IDataObject } from 'n8n-workflow';
import { apiKeyOf, baseUrlOf } from './credential';
import { Limiter } from './limits/limiter';
import { pollPauseMs } from './limits/quota';
import { Memory, putLast } from './memory';

/** Requests per minute of the plans that have a published limit (docs/service.md, Rate limits). */
const PLAN_LIMITS = new Map([
	['starter', 60],
	['pro', 300],
]);
/** Applies until the plan is known. From this demand on, below its limit, the plan is asked for, before calls wait. */
const SMALLEST_PLAN = 'starter';
const ASK_AT_DEMAND = 50;
/** How long a known plan counts, because it may change; and when a failed question may be repeated. */
const [KNOWN_MS, ASK_AGAIN_MS] = [15 * 60_000, 60_000];

/** What all nodes and executions of this process know about one account of the service. Its plan limits the calls. */
export class Account {
	readonly limiter = new Limiter();
	readonly memory = new Memory();
	/** The number of scrapes that are waited for. */
	watched = 0;
	private plan = SMALLEST_PLAN;
	private learnedAt = -Infinity;
	private askedAt = -Infinity;
	private chosenPlan = 'auto';
	private requestsPerMinute = Infinity;

	/** The minimum pause between two polls of the same scrape, in milliseconds. */
	get pollPauseMs(): number {
		return pollPauseMs(this.limiter.knownPerMinute, this.watched);
	}

	/** Reads `plan` from the credential, and `requestsPerMinute` for a plan without a published limit. */
	configure({ plan, requestsPerMinute }: ICredentialDataDecryptedObject): void {
		this.chosenPlan = typeof plan === 'string' ? plan : 'auto';
		// May be a fraction, such as 16.67 for 1,000 an hour.
		const given = Number(requestsPerMinute ?? 0);
		this.requestsPerMinute = given > 0 ? Math.max(1, Math.floor(given)) : Infinity;
		this.setLimit();
	}

	/** Learns the plan from any answer of `GET /credits` (docs/service.md, Credits). */
	learnPlan({ plan }: IDataObject): void {
		this.learnedAt = Date.now();
		if (typeof plan === 'string') this.plan = plan.trim().toLowerCase();
		this.setLimit();
	}

	/** Whether to ask for the plan now. A few calls fit any plan, so they do not need the question. */
	shouldAskForPlan(): boolean {
		const now = Date.now();
		const isKnown = this.chosenPlan !== 'auto' || now - this.learnedAt < KNOWN_MS;
		if (isKnown || now - this.askedAt < ASK_AGAIN_MS) return false;
		if (this.limiter.demand < ASK_AT_DEMAND) return false;
		this.askedAt = now;
		return true;
	}

	private setLimit(): void {
		const plan = this.chosenPlan === 'auto' ? this.plan : this.chosenPlan;
		this.limiter.perMinute = PLAN_LIMITS.get(plan) ?? this.requestsPerMinute;
	}
}

/** How many accounts the process remembers. The account that was unused for longest is forgotten first. */
const MAX_ACCOUNTS = 100;
const accounts = new Map<string, Account>();

/**
 * The account of a credential. Two credentials with the same address and key share one account.
 * @throws InputError if the base URL or the key is invalid or missing
 */
export function accountOf(credential: ICredentialDataDecryptedObject): Account {
	const id = createHash('sha256')
		.update(`${baseUrlOf(credential)}\n${apiKeyOf(credential)}`)
		.digest('hex');
	const account = putLast(accounts, id, accounts.get(id) ?? new Account(), MAX_ACCOUNTS);
	account.configure(credential);
	return account;
}
