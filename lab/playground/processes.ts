/** Programs that we start, ports for them, and locks between our own processes. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const PATIENCE_MS = 15_000;

/** Those that still run, for the case that we end without having ended them. */
const running = new Set<number>();

process.once('exit', () => {
	for (const pid of running) signal(-pid, 'SIGKILL');
});

/** @returns whether there is such a process, or group of processes */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
	try {
		return process.kill(pid, name);
	} catch {
		return false;
	}
}

/** A program in a process group of its own, so that it ends together with all its children. */
export class ProcessGroup {
	readonly child: ChildProcess;
	/** Resolves with how it ended: `exit code 1`, `signal SIGTERM`, or why it could not start. */
	readonly ended: Promise<string>;

	constructor(command: string, args: string[], options: SpawnOptions = {}) {
		this.child = spawn(command, args, { ...options, detached: true });
		const { pid } = this.child;
		if (pid !== undefined) running.add(pid);
		this.ended = new Promise((resolve) => {
			this.child.once('error', (error) => {
				resolve(error.message);
			});
			this.child.once('close', (code, name) => {
				if (pid !== undefined) running.delete(pid);
				resolve(name === null ? `exit code ${String(code)}` : `signal ${name}`);
			});
		});
	}

	/** Waits until the program in it is ready for work. @throws if it ends before, or takes too long */
	async untilReady(check: () => Promise<boolean>, timeoutMs: number): Promise<void> {
		const deadline = Date.now() + timeoutMs;
		while (!(await check())) {
			if (!running.has(this.child.pid ?? 0)) throw new Error(`It ended with ${await this.ended}`);
			if (Date.now() > deadline) throw new Error(`It was not ready in ${String(timeoutMs)} ms`);
			await sleep(200);
		}
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
	options: SpawnOptions = {},
): Promise<string> {
	const group = new ProcessGroup(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
	let output = '';
	for (const stream of [group.child.stdout, group.child.stderr]) {
		stream?.setEncoding('utf8').on('data', (text: string) => (output += text));
	}
	const ended = await group.ended;
	if (ended === 'exit code 0') return output;
	throw new Error(`${command} ${args.join(' ')} failed (${ended})\n${output}`);
}

/** Whether something works. */
export async function succeeds(work: Promise<unknown>): Promise<boolean> {
	return await work.then(
		() => true,
		() => false,
	);
}

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
	if (holder === '' || signal(Number(holder), 0)) return false;
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

/** Those from 32,768 on are for outgoing connections (on Linux), which could take the port of an n8n that restarts. */
const PORTS = { first: 10_000, count: 22_760 };
/** Programs listen on a port only seconds after it was found free, so none is given out twice. */
const given = new Set<number>();

/** `preferred` if nothing listens on it, else any free port. */
export async function freePort(preferred = nextPort()): Promise<number> {
	const server = createServer().listen(preferred, '127.0.0.1');
	const isFree = await succeeds(once(server, 'listening'));
	server.close();
	return isFree ? preferred : await freePort();
}

function nextPort(): number {
	const port = PORTS.first + randomInt(PORTS.count);
	if (given.has(port)) return nextPort();
	given.add(port);
	return port;
}
