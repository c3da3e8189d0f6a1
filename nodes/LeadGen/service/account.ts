import { createHash } from 'crypto';
import type { ICredentialDataDecryptedObject, IDataObject } from 'n8n-workflow';
import { numberIn } from '../common/json';
import { apiKeyOf, baseUrlOf } from './http';
import { Limiter } from './limits/limiter';
import { pollPauseMs } from './limits/polls';
import { Memory, putLast } from './memory';
import { Plan } from './plan';

/** How many accounts the process remembers. The account that was unused for longest is forgotten first. */
const MAX_ACCOUNTS = 100;

/** What all nodes and executions of this process know about one account of the service. */
export class Account {
	readonly limiter = new Limiter();
	/** The results of lookups. */
	readonly lookups = new Memory();
	/** The outcomes of starts. Separate, so that lookups do not evict them. */
	readonly starts = new Memory();
	/** The last balance that the service named, and when. */
	balance: { credits: number; at: number } | undefined;
	readonly plan = new Plan();
	/** The number of scrapes that are waited for. */
	watched = 0;

	/** Reads the limit from the credential. */
	configure(credential: ICredentialDataDecryptedObject): void {
		this.plan.configure(credential);
		this.limiter.perMinute = this.plan.perMinute;
	}

	/** Learns the plan and the balance from any answer of `GET /credits` (docs/service.md, Credits). */
	learn(answer: IDataObject): void {
		const credits = numberIn(answer.credits);
		if (credits !== undefined) this.balance = { credits, at: Date.now() };
		this.plan.update(answer);
		this.limiter.perMinute = this.plan.perMinute;
	}

	/** The minimum pause between two polls of the same scrape, in milliseconds. */
	get pollPauseMs(): number {
		return pollPauseMs(this.limiter.knownPerMinute, this.watched);
	}
}

const accounts = new Map<string, Account>();

/** The account of a credential. Two credentials with the same address and key share one account. */
export function accountOf(credential: ICredentialDataDecryptedObject): Account {
	const id = createHash('sha256')
		.update(`${baseUrlOf(credential)}\n${apiKeyOf(credential)}`)
		.digest('hex');
	const account = putLast(accounts, id, accounts.get(id) ?? new Account(), MAX_ACCOUNTS);
	account.configure(credential);
	return account;
}
