import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { succeeds } from './processes';

/**
 * Locks for this process by a file that holds its ID. The lock ends with {@link unlock}, or with the process.
 * @returns false if another process holds the lock
 */
export async function lock(file: string): Promise<boolean> {
	await mkdir(dirname(file), { recursive: true });
	const take = async () => await succeeds(writeFile(file, String(process.pid), { flag: 'wx' }));
	if (await take()) return true;
	// The file of a process that is just taking the lock may still be empty.
	const holder = await readFile(file, 'utf8').catch(() => '');
	if (holder === '' || isAlive(Number(holder))) return false;
	// It ended without unlocking.
	await unlock(file);
	return await take();
}

export async function unlock(file: string): Promise<void> {
	await rm(file, { force: true });
}

/** Runs a task as soon as no other process holds the lock. */
export async function withLock<T>(file: string, task: () => Promise<T>): Promise<T> {
	while (!(await lock(file))) await sleep(200);
	try {
		return await task();
	} finally {
		await unlock(file);
	}
}

function isAlive(pid: number): boolean {
	try {
		return process.kill(pid, 0);
	} catch {
		return false;
	}
}
