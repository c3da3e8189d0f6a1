import type { Clock } from '../../nodes/LeadGen/service/limits/policy';
import type { VirtualClock } from './clock';
import type { Said, SimulatedService } from './service';

/** What n8n takes of the processor for a call, in milliseconds. */
export const CPU_MS = 4;
/** A busy process has no time for calls every so often, and for so long: mostly briefly. */
const STALL_EVERY_MS = 300;
const SHORTEST_STALL_MS = 5;
/** The longest stall of a usual n8n that is busy. */
export const USUAL_STALL_MS = 200;

/**
 * The event loop of a process, as its clock. A busy one is late with everything: timers ring late, calls go out
 * later than they got their turn and bunch, and answers are heard late.
 */
export class Processor implements Clock {
	/** When it is done with what it has to do. */
	private free = 0;
	private nextStall: number;

	/**
	 * @param longestStallMs how long other things may take that it has to do as well; 0 if it has none
	 * @param cpuMs what it takes for a call
	 */
	constructor(
		private readonly clock: VirtualClock,
		private readonly longestStallMs = 0,
		private readonly cpuMs = CPU_MS,
	) {
		this.nextStall = longestStallMs > 0 ? 0 : Infinity;
	}

	now(): number {
		return this.clock.now();
	}

	random(): number {
		return this.clock.random();
	}

	async sleep(ms: number): Promise<void> {
		await this.clock.sleep(ms);
		await this.work(0);
	}

	/** What was begun comes first. */
	async nextTask(): Promise<void> {
		await this.clock.nextTask();
		await this.work(0);
	}

	/** Sends a request, and takes its answer. */
	async exchange(service: SimulatedService): Promise<Said> {
		await this.work(this.cpuMs);
		const said = await service.call();
		await this.work(0);
		return said;
	}

	/** One thing after the other. */
	private async work(ms: number): Promise<void> {
		const now = this.clock.now();
		while (this.nextStall <= Math.max(now, this.free)) this.stall();
		this.free = Math.max(this.free, now) + ms;
		if (this.free > now) await this.clock.sleep(this.free - now);
	}

	private stall(): void {
		const range = this.longestStallMs - SHORTEST_STALL_MS;
		const ms = SHORTEST_STALL_MS + range * this.clock.random() ** 4;
		this.free = Math.max(this.free, this.nextStall) + ms;
		this.nextStall = this.free - STALL_EVERY_MS * Math.log(1 - this.clock.random());
	}
}
