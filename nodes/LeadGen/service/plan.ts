import type { ICredentialDataDecryptedObject, IDataObject } from 'n8n-workflow';

/** Requests per minute of the plans that have a published limit (docs/service.md, Rate limits). */
const PLAN_LIMITS = new Map([
	['starter', 60],
	['pro', 300],
]);

/** The smallest of them is kept until the plan is known, and asked for in time. */
const ASSUMED_LIMIT = 60;
const ASK_AT_DEMAND = 50;

/** A plan may be changed; a question that failed may be asked again. */
const KNOWN_MS = 15 * 60_000;
const ASK_AGAIN_MS = 60_000;

/** The plan of an account: chosen in the credential, or asked for. */
export class Plan {
	private known: { name: string; at: number } | undefined;
	private askedAt = 0;
	private chosen = 'auto';
	private requestsPerMinute = 0;

	/** Takes what the credential says: its `plan`, and `requestsPerMinute` where the plan names none. */
	configure({ plan, requestsPerMinute }: ICredentialDataDecryptedObject): void {
		this.chosen = typeof plan === 'string' ? plan : 'auto';
		// Such as 16.67, for 1,000 an hour.
		const given = Number(requestsPerMinute ?? 0);
		this.requestsPerMinute = given > 0 ? Math.max(1, Math.floor(given)) : 0;
	}

	/** Learns it from any answer of `GET /credits` (docs/service.md, Credits). */
	hear({ plan }: IDataObject): void {
		if (typeof plan !== 'string') return;
		this.known = { name: plan.trim().toLowerCase(), at: Date.now() };
	}

	/**
	 * Whether it must be asked for now. A few calls fit any plan, so they don't need the question.
	 * @param demand calls of a minute
	 */
	shouldAsk(demand: number): boolean {
		const now = Date.now();
		const isKnown = this.known !== undefined && now - this.known.at < KNOWN_MS;
		if (this.chosen !== 'auto' || isKnown || now - this.askedAt < ASK_AGAIN_MS) return false;
		if (demand < ASK_AT_DEMAND) return false;
		this.askedAt = now;
		return true;
	}

	/** Requests per minute; `Infinity` where nothing names a limit. */
	get perMinute(): number {
		const plan = this.chosen === 'auto' ? this.known?.name : this.chosen;
		if (plan === undefined) return ASSUMED_LIMIT;
		return (
			PLAN_LIMITS.get(plan) ?? (this.requestsPerMinute > 0 ? this.requestsPerMinute : Infinity)
		);
	}
}
