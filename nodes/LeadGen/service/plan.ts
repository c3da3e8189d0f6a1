import type { ICredentialDataDecryptedObject, IDataObject } from 'n8n-workflow';
import type { Limiter } from './limits/limiter';

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
