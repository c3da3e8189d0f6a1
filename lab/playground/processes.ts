import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

const PATIENCE_MS = 15_000;

/** Those that still run, for the case that we end without having ended them. */
const running = new Set<number>();

process.once('exit', () => {
	for (const pid of running) signalGroup(pid, 'SIGKILL');
});

function signalGroup(pid: number, signal: NodeJS.Signals): void {
	try {
		process.kill(-pid, signal);
	} catch {
		// Nothing of the group is left.
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
			this.child.once('close', (code, signal) => {
				if (pid !== undefined) running.delete(pid);
				resolve(signal === null ? `exit code ${String(code)}` : `signal ${signal}`);
			});
		});
	}

	/** Waits until the program in it is ready for work. @throws if it ends before, or takes too long */
	async untilReady(check: () => Promise<boolean>, timeoutMs: number): Promise<void> {
		const deadline = Date.now() + timeoutMs;
		while (!(await check())) {
			const name = this.child.spawnargs.join(' ');
			if (!running.has(this.child.pid ?? 0))
				throw new Error(`${name} ended with ${await this.ended}`);
			if (Date.now() > deadline) throw new Error(`${name} does not get ready`);
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

	private signal(signal: NodeJS.Signals): void {
		if (this.child.pid !== undefined) signalGroup(this.child.pid, signal);
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
	const output: Buffer[] = [];
	group.child.stdout?.on('data', (chunk: Buffer) => output.push(chunk));
	group.child.stderr?.on('data', (chunk: Buffer) => output.push(chunk));
	const ended = await group.ended;
	const text = Buffer.concat(output).toString();
	if (ended !== 'exit code 0') {
		throw new Error(`${command} ${args.join(' ')} failed (${ended})\n${text}`);
	}
	return text;
}

/** Whether something works. */
export async function succeeds(work: Promise<unknown>): Promise<boolean> {
	return await work.then(
		() => true,
		() => false,
	);
}
