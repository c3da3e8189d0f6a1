import { readFile, writeFile } from 'node:fs/promises';

/** What a process took from the machine during a run. */
export interface ProcessUse {
	/** Highest resident memory. */
	peakBytes: number;
	/** Processor time of all its threads. */
	cpuMs: number;
}

/** Linux counts the processor time of a process in hundredths of a second. */
const TICK_MS = 10;

/**
 * Begins to watch a process. Linux keeps its highest resident memory itself, so no peak is missed
 * between two samples.
 * @returns what ends that and tells the use; undefined on other systems
 */
export async function watchProcess(pid = 0): Promise<() => Promise<ProcessUse | undefined>> {
	const folder = `/proc/${String(pid)}`;
	try {
		// Sets the highest value back to the present one.
		await writeFile(`${folder}/clear_refs`, '5');
		const before = await cpuTime(folder);
		return async () => ({
			peakBytes: await peakMemory(folder),
			cpuMs: (await cpuTime(folder)) - before,
		});
	} catch {
		return () => Promise.resolve(undefined);
	}
}

async function peakMemory(folder: string): Promise<number> {
	const status = await readFile(`${folder}/status`, 'utf8');
	return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
}

async function cpuTime(folder: string): Promise<number> {
	const stat = await readFile(`${folder}/stat`, 'utf8');
	// After the name in parentheses: state is field 3, user and system time are 14 and 15.
	const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
	return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}
