import { createHash } from 'crypto';
import type { ICredentialDataDecryptedObject, IDataObject } from 'n8n-workflow';
import { InputError } from '../common/errors';
import { Limiter } from './limits/limiter';
import { pollPauseMs } from './limits/quota';
import { Memory, putLast } from './memory';
import type { ServiceRequest } from './types';

export const CREDENTIAL_TYPE = 'leadGenApi';

/** The request for the balance and the plan (docs/service.md, Operations). */
export const BALANCE: ServiceRequest = { kind: 'read', path: '/credits', isBalance: true };

/**
 * The base URL of the service, without trailing slashes.
 * @throws InputError if it is not an http(s) URL to which a path can be added
 */
export function baseUrlOf({ baseUrl }: ICredentialDataDecryptedObject): string {
	const text = typeof baseUrl === 'string' ? baseUrl.trim() : '';
	const url = URL.canParse(text) ? new URL(text) : undefined;
	const hasScheme = /^https?:\/\//i.test(text);
	// With a login, n8n would send that instead of the key. An empty query or fragment leaves no trace in `url`.
	const isBase = url && !url.username && !url.password && !/[?#]/.test(text);
	if (hasScheme && isBase) return text.replace(/\/+$/, '');
	throw new InputError(
		'Base URL',
		`in the LeadGen credential ${hasScheme ? 'is not a web address that the node can send requests to' : 'must begin with https://'}`,
		'Open the LeadGen credential, and enter the full address, such as https://api.example.com/v1.',
	);
}

/**
 * The API key, without the spaces, the line breaks and the word "Bearer" that were copied with it.
 * @throws InputError if a header cannot hold it; some versions of n8n would send another key instead
 */
export function apiKeyOf({ apiKey }: ICredentialDataDecryptedObject): string {
	const key = typeof apiKey === 'string' ? apiKey.trim().replace(/^bearer\s+/i, '') : '';
	const [odd] = /[^\x20-\x7e]/u.exec(key) ?? [];
	if (odd === undefined) return key;
	const code = (odd.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
	throw new InputError(
		'API Key',
		`in the LeadGen credential contains a character that no key can contain (U+${code})`,
		'Copy the key again from your account dashboard, without any other text. A document or a chat may have changed it.',
	);
}

/** Requests per minute of the plans that have a published limit (docs/service.md, Rate limits). */
const PLAN_LIMITS = new Map([
	['starter', 60],
	['pro', 300],
]);

/** Applies until the plan is known. From this demand on, below its limit, the plan is asked for, before calls wait. */
const SMALLEST_PLAN = 'starter';
const ASK_AT_DEMAND = 50;

/** How long a known plan counts, because it may change; and when a failed question may be repeated. */
const KNOWN_MS = 15 * 60_000;
const ASK_AGAIN_MS = 60_000;

/** The plan of an account, chosen in the credential or asked for. It sets the limit of the calls. */
export class Plan {
	private known: { name: string; at: number } | undefined;
	private askedAt = 0;
	private chosen = 'auto';
	private requestsPerMinute = 0;

	constructor(private readonly limiter: Limiter) {}

	/** Reads `plan` from the credential, and `requestsPerMinute` for a plan without a published limit. */
	configure({ plan, requestsPerMinute }: ICredentialDataDecryptedObject): void {
		this.chosen = typeof plan === 'string' ? plan : 'auto';
		// May be a fraction, such as 16.67 for 1,000 an hour.
		const given = Number(requestsPerMinute ?? 0);
		this.requestsPerMinute = given > 0 ? Math.max(1, Math.floor(given)) : Infinity;
		this.setLimit();
	}

	/** Learns the plan from any answer of `GET /credits` (docs/service.md, Credits). */
	learn({ plan }: IDataObject): void {
		if (typeof plan !== 'string') return;
		this.known = { name: plan.trim().toLowerCase(), at: Date.now() };
		this.setLimit();
	}

	/** Whether to ask for the plan now. A few calls fit any plan, so they do not need the question. */
	shouldAsk(): boolean {
		const now = Date.now();
		const isKnown = this.known !== undefined && now - this.known.at < KNOWN_MS;
		if (this.chosen !== 'auto' || isKnown || now - this.askedAt < ASK_AGAIN_MS) return false;
		if (this.limiter.demand < ASK_AT_DEMAND) return false;
		this.askedAt = now;
		return true;
	}

	private setLimit(): void {
		const plan = this.chosen === 'auto' ? (this.known?.name ?? SMALLEST_PLAN) : this.chosen;
		this.limiter.perMinute = PLAN_LIMITS.get(plan) ?? this.requestsPerMinute;
	}
}

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

/** The account of a credential. Two credentials with the same address and key share one account. */
export function accountOf(credential: ICredentialDataDecryptedObject): Account {
	const id = createHash('sha256')
		.update(`${baseUrlOf(credential)}\n${apiKeyOf(credential)}`)
		.digest('hex');
	const account = putLast(accounts, id, accounts.get(id) ?? new Account(), MAX_ACCOUNTS);
	account.plan.configure(credential);
	return account;
}
