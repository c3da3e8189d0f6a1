/** So many old entries are kept before they are removed, because removing takes time. */
const MAX_OLD = 1000;

/** Points in time in ascending order. */
export class TimeLog {
	private readonly times: number[] = [];

	/** @param time not before the last entry */
	add(time: number): void {
		this.times.push(time);
	}

	/** Changes the time of one entry to a later one. */
	move(from: number, to: number): void {
		const { times } = this;
		let at = times.lastIndexOf(from);
		if (at < 0) return;
		for (; (times[at + 1] ?? Infinity) < to; at++) times[at] = times[at + 1] ?? to;
		times[at] = to;
	}

	remove(time: number): void {
		const at = this.times.lastIndexOf(time);
		if (at >= 0) this.times.splice(at, 1);
	}

	/** Allows earlier entries to be forgotten. */
	forgetBefore(time: number): void {
		if ((this.times[MAX_OLD] ?? Infinity) < time) this.times.splice(0, MAX_OLD);
	}

	/** The number of entries from `begin` to before `end`. */
	count(begin: number, end = Infinity): number {
		let count = 0;
		for (let at = this.times.length - 1; (this.times[at] ?? -Infinity) >= begin; at--) {
			if ((this.times[at] ?? 0) < end) count++;
		}
		return count;
	}

	/** The first entry that is not before `time`; `time` itself if there is none. */
	firstFrom(time: number): number {
		return this.times[this.times.length - this.count(time)] ?? time;
	}

	/**
	 * How long until fewer than `limit` entries are within the last `ms` milliseconds.
	 * @param more entries that will be added at a time that is not known yet
	 * @returns milliseconds; `Infinity` if `more` alone reaches the limit
	 */
	waitMs(limit: number, ms: number, now: number, more = 0): number {
		const free = limit - more;
		if (free <= 0) return Infinity;
		return Math.max(0, (this.times[this.times.length - free] ?? -Infinity) + ms - now);
	}
}
