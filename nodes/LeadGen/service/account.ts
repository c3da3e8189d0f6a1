import { createHash } from 'crypto';
import type { ICredentialDataDecryptedObject, IDataObject } from 'n8n-workflow';
import { baseUrlOf } from './http';
import { Limiter } from './limits/limiter';
import { pollPauseMs } from './limits/polls';
import { Memory } from './memory';
import { Plan } from './plan';

/** Accounts that the process remembers; the one that was unused for longest goes first. */
const MAX_ACCOUNTS = 100;

/** What all nodes and executions of this process know about one account of the service. */
export class Account {
	readonly limiter = new Limiter();
	/** What lookups brought. */
	readonly lookups = new Memory();
	/** What became of starts, and what runs have spent: not to be pushed out by lookups. */
	readonly runs = new Memory();
	/** Scrapes whose end is waited for. */
	private watched = 0;
	private readonly plan = new Plan();

	/** Takes the limit from the credential. */
	configure(credential: ICredentialDataDecryptedObject): void {
		this.plan.configure(credential);
		this.limiter.perMinute = this.plan.perMinute;
	}

	/** Learns the plan from any answer of `GET /credits` (docs/service.md, Credits). */
	hear(credits: IDataObject): void {
		this.plan.hear(credits);
		this.limiter.perMinute = this.plan.perMinute;
	}

	/** Whether the plan must be asked for now. */
	shouldAskForPlan(): boolean {
		return this.plan.shouldAsk(this.limiter.demand);
	}

	/**
	 * Waits for a scrape, beside all others that are waited for.
	 * @param wait gets what `pollPauseMs` was for the others
	 */
	async watching<T>(wait: (othersMs: number) => Promise<T>): Promise<T> {
		const othersMs = this.pollPauseMs;
		this.watched++;
		try {
			return await wait(othersMs);
		} finally {
			this.watched--;
		}
	}

	/** How long to pause at least between two looks at the status of the same scrape, in milliseconds. */
	get pollPauseMs(): number {
		return pollPauseMs(this.limiter.knownPerMinute, this.watched);
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
