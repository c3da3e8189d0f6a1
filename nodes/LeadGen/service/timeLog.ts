/** Points in time in rising order, of which the old ones are forgotten. */
export class TimeLog {
	private times: number[] = [];
	private first = 0;

	add(time: number): void {
		this.times.push(time);
	}

	/** Forgets what is older than `time`. */
	forgetBefore(time: number): void {
		while ((this.times[this.first] ?? Infinity) < time) this.first++;
		if (this.first > 1000 && this.first > this.times.length / 2) {
			this.times = this.times.slice(this.first);
			this.first = 0;
		}
	}

	/** The `n`th time from the end; 1 is the newest. */
	fromEnd(n: number): number | undefined {
		return n > this.times.length - this.first ? undefined : this.times[this.times.length - n];
	}

	/** All from `time` on. */
	since(time: number): number[] {
		return this.times.slice(this.first).filter((entry) => entry >= time);
	}

	/** How many are not forgotten. */
	get size(): number {
		return this.times.length - this.first;
	}
}
