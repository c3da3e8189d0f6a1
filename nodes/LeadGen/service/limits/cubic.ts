/** The share by which a refusal reduces the level. */
const CUT = 0.05;
/** This many units of time after a cut, the level is back at what was good. */
const BACK = 3;

/**
 * How much the service accepts, by CUBIC congestion control (RFC 9438): a little less after a refusal, then slowly back
 * to what was good, then faster and faster beyond it, to find out whether much more is possible now. The unit of time
 * is the time that the service needs to refuse a call, such as a window.
 */
export interface Cubic {
	/** What was good when the service last refused a call. */
	readonly good: number;
	/** How long this limit has held back calls since then, in units of time. Without demand, nothing is learned. */
	readonly age: number;
}

/** A level that is known to be good. */
export function known(good: number): Cubic {
	return { good, age: BACK };
}

export function level({ good, age }: Cubic): number {
	return good * (1 + CUT * (age / BACK - 1) ** 3);
}

/** @param units the time in which the limit held back calls */
export function held<State extends Cubic>(state: State, units: number): State {
	return { ...state, age: state.age + units };
}

/** The service refused a call. The level one unit ago is good, because the service accepted it for that long. */
export function cut<State extends Cubic>(state: State): State {
	return { ...state, good: level({ ...state, age: Math.max(0, state.age - 1) }), age: 0 };
}
