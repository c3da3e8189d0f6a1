import { createHash } from 'crypto';
import type { ICredentialDataDecryptedObject, IDataObject } from 'n8n-workflow';
import { baseUrlOf } from './http';
import { Limiter } from './limiter';
import { Memory } from './memory';

/** Requests per minute of the plans that have a published limit (interface 8). */
const PLAN_LIMITS: Partial<Record<string, number>> = { starter: 60, pro: 300 };

/** The smallest of them is kept until the plan is known, and asked for in time. */
const ASSUMED_LIMIT = 60;
const ASK_AT_DEMAND = 50;

/** A plan may be changed; a question that failed may be asked again. */
const PLAN_KNOWN_MS = 15 * 60_000;
const ASK_AGAIN_MS = 60_000;

/** Accounts that the process remembers; the one that was unused for longest goes first. */
const MAX_ACCOUNTS = 100;

/** What all nodes and executions of this process know about one account of the service. */
export class Account {
	readonly limiter = new Limiter();
	/** What lookups brought. */
	readonly lookups = new Memory();
	/** What became of starts, and what runs have spent: not to be pushed out by lookups. */
	readonly runs = new Memory();
	private plan: { name: string; knownAt: number } | undefined;
	private askedAt = 0;
	private chosenPlan = 'auto';
	private requestsPerMinute = 0;

	/** Takes the limit from the credential: its `plan`, and `requestsPerMinute` where the plan names none. */
	configure(credential: ICredentialDataDecryptedObject): void {
		const { plan, requestsPerMinute } = credential;
		this.chosenPlan = typeof plan === 'string' ? plan : 'auto';
		this.requestsPerMinute = Number(requestsPerMinute ?? 0);
		this.updateLimit();
	}

	/** Learns the plan from any answer of `GET /credits` (interface 2.4). */
	hear({ plan }: IDataObject): void {
		if (typeof plan !== 'string') return;
		this.plan = { name: plan.trim().toLowerCase(), knownAt: Date.now() };
		this.updateLimit();
	}

	/** Whether the plan must be asked for now. A few calls fit any plan, so they don't need the question. */
	shouldAskForPlan(): boolean {
		const now = Date.now();
		const isKnown = this.plan !== undefined && now - this.plan.knownAt < PLAN_KNOWN_MS;
		if (this.chosenPlan !== 'auto' || isKnown || now - this.askedAt < ASK_AGAIN_MS) return false;
		if (this.limiter.demand < ASK_AT_DEMAND) return false;
		this.askedAt = now;
		return true;
	}

	private updateLimit(): void {
		const plan = this.chosenPlan === 'auto' ? this.plan?.name : this.chosenPlan;
		this.limiter.perMinute =
			plan === undefined
				? ASSUMED_LIMIT
				: (PLAN_LIMITS[plan] ?? (this.requestsPerMinute > 0 ? this.requestsPerMinute : Infinity));
	}
}

const accounts = new Map<string, Account>();

/** The account of a credential; two credentials with the same address and key are one account. */
export function accountOf(credential: ICredentialDataDecryptedObject): Account {
	const id = createHash('sha256')
		.update(`${baseUrlOf(credential)}\n${JSON.stringify(credential.apiKey)}`)
		.digest('hex');
	const account = accounts.get(id) ?? new Account();
	accounts.delete(id);
	accounts.set(id, account);
	const [oldest = ''] = accounts.keys();
	if (accounts.size > MAX_ACCOUNTS) accounts.delete(oldest);
	account.configure(credential);
	return account;
}
