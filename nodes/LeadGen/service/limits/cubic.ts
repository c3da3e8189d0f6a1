/** What a refusal takes back, as a share. */
const CUT = 0.05;
/** So many units of time after a cut it is back at what was good. */
const BACK = 3;

/**
 * How much the service takes, by CUBIC congestion control (RFC 9438): after a refusal a little less, then slowly
 * back to what was good, and then faster and faster beyond, to find out whether much more is possible now. The unit
 * of time is what the service needs to say no, such as a window.
 */
export interface Cubic {
	/** What was good when the service refused something last. */
	readonly good: number;
	/** How long it was what held calls back since, in units: where nobody asks for more, nothing is learned. */
	readonly age: number;
}

/** It is known to be good. */
export function known(good: number): Cubic {
	return { good, age: BACK };
}

export function level({ good, age }: Cubic): number {
	return good * (1 + CUT * (age / BACK - 1) ** 3);
}

/** @param units of time for which it held calls back */
export function held<State extends Cubic>(state: State, units: number): State {
	return { ...state, age: state.age + units };
}

/** The service refused something: what it was a unit ago is good, since that was taken for as long. */
export function cut<State extends Cubic>(state: State): State {
	return { ...state, good: level({ ...state, age: Math.max(0, state.age - 1) }), age: 0 };
}
