/** One limit of a service. All times are milliseconds. */
export interface Limit {
	/** How long until a call would be taken; 0 takes it now. `Infinity` means until another call is over. */
	waitMs: (now: number) => number;
	/** A call was taken. @returns how long it has to wait inside the service */
	take: (now: number) => number;
	/** A call that was taken is over. */
	end?: () => void;
	/** A call was refused. */
	refuse?: (now: number) => void;
	/** How many calls are left, for services that say so. */
	left?: (now: number) => number;
	/** How long until that is told anew. */
	resetMs?: (now: number) => number;
}

/** `limit` calls in any `ms`. */
export function sliding(limit: number, ms: number): Limit {
	let times: number[] = [];
	const forget = (now: number) => {
		times = times.filter((time) => time > now - ms);
	};
	return {
		waitMs(now) {
			forget(now);
			return times.length < limit ? 0 : (times[times.length - limit] ?? now) + ms - now;
		},
		take(now) {
			times.push(now);
			return 0;
		},
		left(now) {
			forget(now);
			return limit - times.length;
		},
		// Refused calls may count as well, so there may be more of them.
		resetMs: (now) => (times[Math.max(times.length - limit, 0)] ?? now) + ms - now,
	};
}

/** `limit` calls in a window that begins with its first call, or at full `ms` of the clock from `offset` on. */
export function fixed(limit: number, ms: number, offset?: number): Limit {
	let began = -Infinity;
	let taken = 0;
	const roll = (now: number) => {
		if (now < began + ms) return;
		began = offset === undefined ? now : now - ((((now - offset) % ms) + ms) % ms);
		taken = 0;
	};
	return {
		waitMs(now) {
			roll(now);
			return taken < limit ? 0 : began + ms - now;
		},
		take(now) {
			roll(now);
			taken++;
			return 0;
		},
		left(now) {
			roll(now);
			return limit - taken;
		},
		resetMs: (now) => began + ms - now,
	};
}

/** A bucket of `capacity` tokens that gains `perSecond`. */
export function tokenBucket(capacity: number, perSecond: number): Limit {
	let tokens = capacity;
	let filledAt = 0;
	const fill = (now: number) => {
		tokens = Math.min(capacity, tokens + ((now - filledAt) * perSecond) / 1000);
		filledAt = now;
	};
	return {
		waitMs(now) {
			fill(now);
			return tokens >= 1 - 1e-9 ? 0 : ((1 - tokens) / perSecond) * 1000;
		},
		take(now) {
			fill(now);
			tokens = Math.max(0, tokens - 1);
			return 0;
		},
	};
}

/** A bucket that leaks `perSecond`: calls wait inside the service, up to `capacity` of them. */
export function leakyBucket(capacity: number, perSecond: number): Limit {
	let nextAt = 0;
	const gap = 1000 / perSecond;
	return {
		waitMs: (now) => Math.max(0, nextAt - now - capacity * gap),
		take(now) {
			const waits = Math.max(0, nextAt - now);
			nextAt = Math.max(nextAt, now) + gap;
			return waits;
		},
	};
}

/** Takes no call from `begin` until `end`, whatever the rate. */
export function closed(begin: number, end: number): Limit {
	return {
		waitMs: (now) => (now >= begin && now < end ? end - now : 0),
		take: () => 0,
	};
}

/** At most `most` calls in flight. */
export function atOnce(most: number): Limit {
	let inFlight = 0;
	return {
		waitMs: () => (inFlight < most ? 0 : Infinity),
		take() {
			inFlight++;
			return 0;
		},
		end: () => inFlight--,
	};
}

/** Refused calls count as well. */
export function countingRefused(limit: Limit): Limit {
	return { ...limit, refuse: (now) => void limit.take(now) };
}

/** A refusal begins a ban of `banMs`, and each call in that time begins it anew. */
export function banning(limit: Limit, banMs: number): Limit {
	let until = -Infinity;
	return {
		...limit,
		waitMs: (now) => (now < until ? until - now : limit.waitMs(now)),
		refuse: (now) => (until = now + banMs),
	};
}

/** One limit until so many calls are taken, another one from then on. */
export function changing(before: Limit, count: number, after: Limit): Limit {
	let taken = 0;
	return {
		waitMs: (now) => (taken < count ? before : after).waitMs(now),
		take(now) {
			taken++;
			return before.take(now) + after.take(now);
		},
	};
}
