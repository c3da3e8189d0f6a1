import type { ICredentialDataDecryptedObject, IDataObject } from 'n8n-workflow';

/** Requests per minute of the plans that have a published limit (docs/service.md, Rate limits). */
const PLAN_LIMITS = new Map([
	['starter', 60],
	['pro', 300],
]);

/**
 * Until the plan is known, the smallest limit applies. From this demand on, the plan is asked for, before calls wait.
 */
const ASSUMED_LIMIT = 60;
const ASK_AT_DEMAND = 50;

/** How long a known plan counts, because it may change; and when a failed question may be repeated. */
const KNOWN_MS = 15 * 60_000;
const ASK_AGAIN_MS = 60_000;

/** The plan of an account: chosen in the credential, or asked for. */
export class Plan {
	private known: { name: string; at: number } | undefined;
	private askedAt = 0;
	private chosen = 'auto';
	private requestsPerMinute = 0;

	/** Reads `plan` from the credential, and `requestsPerMinute` for a plan without a published limit. */
	configure({ plan, requestsPerMinute }: ICredentialDataDecryptedObject): void {
		this.chosen = typeof plan === 'string' ? plan : 'auto';
		// May be a fraction, such as 16.67 for 1,000 an hour.
		const given = Number(requestsPerMinute ?? 0);
		this.requestsPerMinute = given > 0 ? Math.max(1, Math.floor(given)) : 0;
	}

	/** Learns the plan from any answer of `GET /credits` (docs/service.md, Credits). */
	update({ plan }: IDataObject): void {
		if (typeof plan !== 'string') return;
		this.known = { name: plan.trim().toLowerCase(), at: Date.now() };
	}

	/**
	 * Whether to ask for the plan now. A few calls fit any plan, so they do not need the question.
	 * @param demand returns the calls per minute; it is only asked if it matters
	 */
	shouldAsk(demand: () => number): boolean {
		const now = Date.now();
		const isKnown = this.known !== undefined && now - this.known.at < KNOWN_MS;
		if (this.chosen !== 'auto' || isKnown || now - this.askedAt < ASK_AGAIN_MS) return false;
		if (demand() < ASK_AT_DEMAND) return false;
		this.askedAt = now;
		return true;
	}

	/** Requests per minute; `Infinity` if nothing names a limit. */
	get perMinute(): number {
		const plan = this.chosen === 'auto' ? this.known?.name : this.chosen;
		if (plan === undefined) return ASSUMED_LIMIT;
		return (
			PLAN_LIMITS.get(plan) ?? (this.requestsPerMinute > 0 ? this.requestsPerMinute : Infinity)
		);
	}
}
