import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Locks for this process by a file that holds its ID. The lock ends with {@link unlock}, or with the process.
 * @returns false if another process holds the lock
 */
export async function lock(file: string): Promise<boolean> {
	const own = `${file}.${randomUUID()}`;
	await writeFile(own, String(process.pid));
	// A link is there with its content at once, and of several processes one can make it.
	const isTaken = async () => {
		return await link(own, file).then(
			() => true,
			() => false,
		);
	};
	try {
		if (await isTaken()) return true;
		const holder = await readFile(file, 'utf8').catch(() => undefined);
		if (holder !== undefined) {
			if (isAlive(holder)) return false;
			// It ended without unlocking.
			await unlock(file);
		}
		return await isTaken();
	} finally {
		await rm(own);
	}
}

export async function unlock(file: string): Promise<void> {
	await rm(file, { force: true });
}

/** Runs a task as soon as no other process holds the lock. */
export async function withLock<T>(file: string, task: () => Promise<T>): Promise<T> {
	await mkdir(dirname(file), { recursive: true });
	while (!(await lock(file))) await sleep(200);
	try {
		return await task();
	} finally {
		await unlock(file);
	}
}

function isAlive(pid: string): boolean {
	try {
		return process.kill(Number(pid), 0);
	} catch {
		return false;
	}
}
