/** How many failures in a row, or nearly so, are taken for chance: at the beginning, and after many answers. */
const [FIRST, MOST] = [1, 3];
/**
 * What an answer gives back of the trust that a failure takes. Failures that come evenly are always taken for chance if
 * they are fewer than one in six.
 */
const PER_ANSWER = 0.2;

/** Tells failures by chance from those that come together. Answers give trust back as in gRPC's retry throttling. */
export class Trust {
	/** How many failures more are taken for chance. */
	private left = FIRST;

	passed(): void {
		this.left = Math.min(MOST, this.left + PER_ANSWER);
	}

	/** @returns whether this failure is taken for chance, too */
	failed(): boolean {
		const isChance = this.left >= 1;
		this.left = Math.max(0, this.left - 1);
		return isChance;
	}

	/** Failures that came together were chance, too. */
	restore(): void {
		this.left = MOST;
	}
}
