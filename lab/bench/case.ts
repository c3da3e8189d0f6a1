import type { Measured, Task } from './setup';
import type { Rows, Variant } from './workflows';

/** One way of doing the work of a case, with the rounds that were run. */
export interface Entry {
	variant: Variant;
	/** Of each round, the first first. */
	rounds: Measured[];
	/** What times and counts were multiplied by, since only a part of the rows was run. */
	scale: number;
}

/** What a case must reach; what is left out is not asked for. */
export interface CaseAim {
	/** Time in relation to the HTTP Request node, and to the bound. */
	ofHttp?: number;
	ofBound?: number;
	/** Calls that the service refuses for the rate, and those after the credits have ended. */
	refused?: number;
	vain?: number;
}

export interface Case extends Rows {
	title: string;
	aim: CaseAim;
	/** Results that the account has credits for; all by default. */
	bought?: number;
	/** What it is about, for people who read the table. */
	about: string;
	/** The time that no correct program can go below, and why. */
	boundMs: number;
	bound: string;
	entries: Entry[];
}

export interface Plan extends Omit<Case, 'entries'> {
	/** With the rounds of each. */
	variants: Array<[Variant, number]>;
	task: Pick<Task, 'plan' | 'credential' | 'credits' | 'service'>;
}
