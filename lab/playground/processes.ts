/** Programs that we start, ports for them, and locks between our own processes. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const PATIENCE_MS = 15_000;

/** Runs a program, and ends its process group when the pipe closes, as it does when we end in whatever way. */
const WITH_PARENT = '{ cat <&3; kill -INT 0; } & exec "$@" 3<&-';

/** @returns whether there is such a process, or group of processes */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
	try {
		return process.kill(pid, name);
	} catch {
		return false;
	}
}

/** A program in a process group of its own, so that it ends together with all its children, and with this process. */
export class ProcessGroup {
	private readonly child: ChildProcess;
	private isRunning = true;
	/** Resolves with how it ended: `exit code 1` or `signal SIGTERM`. */
	readonly ended: Promise<string>;

	/** @param output the file that takes what it prints */
	constructor(command: string[], cwd: string, output: number | 'ignore', env?: NodeJS.ProcessEnv) {
		this.child = spawn('sh', ['-c', WITH_PARENT, 'sh', ...command], {
			cwd,
			env,
			detached: true,
			stdio: ['ignore', output, output, 'pipe'],
		});
		this.ended = once(this.child, 'exit').then(([code, name]) => {
			this.isRunning = false;
			this.signal('SIGKILL');
			return name === null ? `exit code ${String(code)}` : `signal ${String(name)}`;
		});
	}

	/**
	 * Waits until the program in it is ready for work.
	 * @param check throws as long as it is not
	 * @throws if it ends before, or takes too long
	 */
	async untilReady(check: () => Promise<unknown>): Promise<void> {
		await until('it is ready', async () => {
			if (!this.isRunning) throw new Error(`It ended with ${await this.ended}`);
			return await succeeds(check());
		});
	}

	/** Asks it to end, as a service manager does, and insists after a while. */
	async stop(): Promise<void> {
		this.signal('SIGTERM');
		await Promise.race([this.ended, sleep(PATIENCE_MS, undefined, { ref: false })]);
		await this.kill();
	}

	/** Ends it and its children at once, as a power cut does. */
	async kill(): Promise<void> {
		this.signal('SIGKILL');
		await this.ended;
	}

	private signal(name: NodeJS.Signals): void {
		if (this.child.pid !== undefined) signal(-this.child.pid, name);
	}
}

/**
 * Runs a program to its end and gives what it printed.
 * @throws with its output if it fails
 */
export async function run(
	command: string,
	args: string[],
	options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<string> {
	return await new Promise((resolve, reject) => {
		execFile(command, args, { maxBuffer: Infinity, ...options }, (error, stdout) => {
			if (error) reject(new Error(`${error.message}\n${stdout}`));
			else resolve(stdout);
		});
	});
}

async function succeeds(work: Promise<unknown>): Promise<boolean> {
	return await work.then(
		() => true,
		() => false,
	);
}

/** A busy machine may take so long for what usually takes seconds. */
const LATEST_MS = 180_000;

/** Waits until something is as it should be. */
export async function until(
	what: string,
	check: () => boolean | Promise<boolean>,
	timeoutMs = LATEST_MS,
): Promise<void> {
	const end = Date.now() + timeoutMs;
	for (;;) {
		if (await check()) return;
		if (Date.now() > end) throw new Error(`In ${String(timeoutMs)} ms it did not happen: ${what}`);
		await sleep(200);
	}
}

/**
 * Locks for this process by a file that holds its ID. The lock ends with the process.
 * @returns false if another process holds the lock
 */
export async function lock(file: string): Promise<boolean> {
	await mkdir(dirname(file), { recursive: true });
	if (await succeeds(writeFile(file, String(process.pid), { flag: 'wx' }))) return true;
	// The file of a process that is just taking the lock may still be empty.
	const holder = await readFile(file, 'utf8').catch(() => '');
	if (holder === '' || signal(Number(holder), 0)) return false;
	await rm(file, { force: true });
	return await lock(file);
}

/** Runs a task as soon as no other process holds the lock. */
export async function withLock<T>(file: string, task: () => Promise<T>): Promise<T> {
	while (!(await lock(file))) await sleep(200);
	try {
		return await task();
	} finally {
		await rm(file, { force: true });
	}
}

/** Programs listen on a port only seconds after it was found free, so none is given out twice. */
const given = new Set<number>();

/**
 * `port` if nothing listens on it, else any free one. Those from 32,768 on are for outgoing connections (on Linux),
 * which could take the port of an n8n that restarts.
 */
export async function freePort(port = randomInt(10_000, 32_768)): Promise<number> {
	const server = createServer().listen(port, '127.0.0.1');
	const isFree = await succeeds(once(server, 'listening'));
	server.close();
	if (!isFree || given.has(port)) return await freePort();
	given.add(port);
	return port;
}
