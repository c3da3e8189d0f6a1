/** So many calls that were sent after a refused one, and accepted in a row, show that no limit was reached. */
const ENOUGH = 3;
/** If so, further refusals are for another reason, too, until so many come in a row. */
const TOLERATED = 3;

/**
 * Tells refusals that are not for the rate from those that are.
 *
 * For example, one of several servers is busy, and refuses a call while ten others are in flight. Three calls that were sent
 * after the refused one are accepted, so no limit was reached. From now on, single refusals mean nothing, but four in a row
 * do. If calls that were sent later are refused as well, or there are none, the refusal is for the rate.
 */
export class OddRefusals {
	/** The refused call in question. If `needed` calls that were sent between it and `until` are accepted in a row, it is odd. */
	private suspect: { sentAt: number; until: number; needed: number; accepted: number } | undefined;
	/** How many refusals in a row are taken for odd ones, because the last ones were. */
	private tolerance = 0;
	/** How many of them are left. */
	private left = 0;

	/** Begins to watch the calls in flight that were sent after a refused one; `later` is their number. */
	watch(sentAt: number, until: number, later: number): void {
		const needed = Math.min(ENOUGH, later);
		this.suspect = needed > 0 ? { sentAt, until, needed, accepted: 0 } : undefined;
	}

	/** A call was refused. @returns whether that is taken for odd, because refusals before were */
	refused(isFirst: boolean): boolean {
		if (this.suspect) this.suspect.accepted = 0;
		return isFirst && this.left-- > 0;
	}

	/** A call was accepted. @returns whether this shows that the refusal was odd */
	accepted(sentAt: number): boolean {
		this.left = this.tolerance;
		const { suspect } = this;
		if (!suspect || sentAt <= suspect.sentAt || sentAt >= suspect.until) return false;
		if (++suspect.accepted < suspect.needed) return false;
		this.suspect = undefined;
		this.tolerance = TOLERATED;
		this.left = TOLERATED;
		return true;
	}

	/** The refusal was for the rate. */
	forget(): void {
		this.suspect = undefined;
		this.tolerance = 0;
		this.left = 0;
	}
}
