import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Takes a thing for this process by a file that names it. The claim ends with {@link release}, or
 * with the process.
 * @returns false if it is taken
 */
export async function claim(file: string): Promise<boolean> {
	if (isAlive(await readFile(file, 'utf8').catch(() => ''))) return false;
	await release(file);
	try {
		await writeFile(file, String(process.pid), { flag: 'wx' });
		return true;
	} catch {
		return false;
	}
}

/** Gives back what was claimed. */
export async function release(file: string): Promise<void> {
	await rm(file, { force: true });
}

/** Does something once nobody else has the claim, and gives it back. */
export async function withClaim<T>(
	file: string,
	task: () => Promise<T>,
	signal?: AbortSignal,
): Promise<T> {
	await mkdir(dirname(file), { recursive: true });
	while (!(await claim(file))) await sleep(200, undefined, { signal });
	try {
		return await task();
	} finally {
		await release(file);
	}
}

function isAlive(pid: string): boolean {
	try {
		return pid !== '' && process.kill(Number(pid), 0);
	} catch {
		return false;
	}
}
