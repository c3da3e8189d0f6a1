import { readFileSync } from 'node:fs';

/** What a process has taken of the machine since it started. */
export interface ProcessUse {
	/** Highest resident memory. */
	peakMegabytes: number;
	/** Processor time of all its threads. */
	cpuMs: number;
}

/** Linux counts the processor time of a process in hundredths of a second. */
const TICK_MS = 10;

/** Reads it as the Linux kernel counts it. */
export function processUse(pid = 0): ProcessUse {
	const read = (file: string) => readFileSync(`/proc/${String(pid)}/${file}`, 'utf8');
	// After the name in parentheses: state is field 3, user and system time are 14 and 15.
	const fields = (read('stat').split(') ').at(-1) ?? '').split(' ');
	return {
		peakMegabytes: Math.round(Number(/^VmHWM:\s+(\d+) kB/m.exec(read('status'))?.[1]) / 1000),
		cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS,
	};
}
