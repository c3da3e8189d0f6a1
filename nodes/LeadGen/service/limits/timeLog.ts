/** Points in time in rising order, of which the old ones are forgotten. */
export class TimeLog {
	private times: number[] = [];
	private first = 0;

	/** @param time not before the last one */
	add(time: number): void {
		this.times.push(time);
	}

	/** Corrects one entry. */
	move(from: number, to: number): void {
		const { times, first } = this;
		let at = times.lastIndexOf(from);
		if (at < first) return;
		for (; (times[at + 1] ?? Infinity) < to; at++) times[at] = times[at + 1] ?? to;
		times[at] = to;
	}

	/** Takes one entry back. */
	remove(time: number): void {
		const at = this.times.lastIndexOf(time);
		if (at >= this.first) this.times.splice(at, 1);
	}

	/** Forgets what is older than `time`. */
	forgetBefore(time: number): void {
		while ((this.times[this.first] ?? Infinity) < time) this.first++;
		if (this.first > 1000 && this.first > this.times.length / 2) {
			this.times = this.times.slice(this.first);
			this.first = 0;
		}
	}

	/** How many are from `begin` to before `end`. */
	count(begin: number, end = Infinity): number {
		let count = 0;
		for (let at = this.times.length - 1; at >= this.first; at--) {
			const time = this.times[at] ?? 0;
			if (time < begin) break;
			if (time < end) count++;
		}
		return count;
	}

	/** The first one that is not before `time`; if there is none, `time` itself. */
	firstFrom(time: number): number {
		return this.times[this.times.length - this.count(time)] ?? time;
	}

	/** How many are not forgotten. */
	get size(): number {
		return this.times.length - this.first;
	}

	/**
	 * How long until fewer than `limit` entries are within the last `ms`.
	 * @param more entries that will be added at a time that is not known yet
	 * @returns milliseconds; `Infinity` if `more` alone are as many
	 */
	waitMs(limit: number, ms: number, now: number, more = 0): number {
		const free = limit - more;
		if (free <= 0) return Infinity;
		if (free > this.size) return 0;
		return Math.max(0, (this.times[this.times.length - free] ?? 0) + ms - now);
	}
}
