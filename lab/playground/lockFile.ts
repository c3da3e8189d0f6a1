import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Locks for this process by a file that holds its ID. The lock ends with {@link unlock}, or with the process.
 * @returns false if another process holds the lock
 */
export async function lock(file: string): Promise<boolean> {
	if (isAlive(await readFile(file, 'utf8').catch(() => ''))) return false;
	await unlock(file);
	try {
		await writeFile(file, String(process.pid), { flag: 'wx' });
		return true;
	} catch {
		return false;
	}
}

export async function unlock(file: string): Promise<void> {
	await rm(file, { force: true });
}

/** Runs a task as soon as no other process holds the lock. */
export async function withLock<T>(
	file: string,
	task: () => Promise<T>,
	signal?: AbortSignal,
): Promise<T> {
	await mkdir(dirname(file), { recursive: true });
	while (!(await lock(file))) await sleep(200, undefined, { signal });
	try {
		return await task();
	} finally {
		await unlock(file);
	}
}

function isAlive(pid: string): boolean {
	try {
		return pid !== '' && process.kill(Number(pid), 0);
	} catch {
		return false;
	}
}
