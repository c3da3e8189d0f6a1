/** Points in time in ascending order. Old ones are forgotten. */
export class TimeLog {
	private times: number[] = [];
	private first = 0;

	/** @param time not before the last entry */
	add(time: number): void {
		this.times.push(time);
	}

	/** Changes the time of one entry. */
	move(from: number, to: number): void {
		const { times, first } = this;
		let at = times.lastIndexOf(from);
		if (at < first) return;
		for (; (times[at + 1] ?? Infinity) < to; at++) times[at] = times[at + 1] ?? to;
		times[at] = to;
	}

	remove(time: number): void {
		const at = this.times.lastIndexOf(time);
		if (at >= this.first) this.times.splice(at, 1);
	}

	forgetBefore(time: number): void {
		while ((this.times[this.first] ?? Infinity) < time) this.first++;
		if (this.first > 1000 && this.first > this.times.length / 2) {
			this.times = this.times.slice(this.first);
			this.first = 0;
		}
	}

	/** The number of entries from `begin` to before `end`. */
	count(begin: number, end = Infinity): number {
		let count = 0;
		for (let at = this.times.length - 1; at >= this.first; at--) {
			const time = this.times[at] ?? 0;
			if (time < begin) break;
			if (time < end) count++;
		}
		return count;
	}

	/** The first entry that is not before `time`; `time` itself if there is none. */
	firstFrom(time: number): number {
		return this.times[this.times.length - this.count(time)] ?? time;
	}

	/** The number of entries that are not forgotten. */
	get size(): number {
		return this.times.length - this.first;
	}

	/**
	 * How long until fewer than `limit` entries are within the last `ms` milliseconds.
	 * @param more entries that will be added at a time that is not known yet
	 * @returns milliseconds; `Infinity` if `more` alone reaches the limit
	 */
	waitMs(limit: number, ms: number, now: number, more = 0): number {
		const free = limit - more;
		if (free <= 0) return Infinity;
		if (free > this.size) return 0;
		return Math.max(0, (this.times[this.times.length - free] ?? 0) + ms - now);
	}
}
