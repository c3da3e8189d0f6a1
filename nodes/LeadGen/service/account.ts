import { createHash } from 'crypto';
import type { ICredentialDataDecryptedObject } from 'n8n-workflow';
import { apiKeyOf, baseUrlOf } from './credential';
import { Limiter } from './limits/limiter';
import { pollPauseMs } from './limits/quota';
import { Memory, putLast } from './memory';
import { Plan } from './plan';

/** What all nodes and executions of this process know about one account of the service. */
export class Account {
	readonly limiter = new Limiter();
	readonly plan = new Plan(this.limiter);
	readonly memory = new Memory();
	/** The number of scrapes that are waited for. */
	watched = 0;

	/** The minimum pause between two polls of the same scrape, in milliseconds. */
	get pollPauseMs(): number {
		return pollPauseMs(this.limiter.knownPerMinute, this.watched);
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
	account.plan.configure(credential);
	return account;
}
