/** Points in time in ascending order. */
export class TimeLog {
	private readonly times: number[] = [];

	/** @param time not before the last entry */
	add(time: number): void {
		this.times.push(time);
	}

	/** Removes one entry, if there is one. */
	remove(time: number): void {
		const at = this.indexFrom(time);
		if (this.times[at] === time) this.times.splice(at, 1);
	}

	/** Forgets earlier entries. It takes time, so it waits until they are most of all. */
	forgetBefore(time: number): void {
		const old = this.indexFrom(time);
		if (old > this.times.length / 2) this.times.splice(0, old);
	}

	/** The number of entries from `begin` to before `end`. */
	count(begin: number, end = Infinity): number {
		return Math.max(0, this.indexFrom(end) - this.indexFrom(begin));
	}

	/** The first entry that is not before `time`; `time` itself if there is none. */
	firstFrom(time: number): number {
		return this.times[this.indexFrom(time)] ?? time;
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

	/** The index of the first entry that is not before `time` (binary search). */
	private indexFrom(time: number): number {
		let [low, high] = [0, this.times.length];
		while (low < high) {
			const middle = (low + high) >>> 1;
			if ((this.times[middle] ?? Infinity) < time) low = middle + 1;
			else high = middle;
		}
		return low;
	}
}
