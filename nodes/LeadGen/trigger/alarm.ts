import { sleep } from 'n8n-workflow';

/** In slices, so that no long timer is left behind when the node is closed. */
const SLICE_MS = 5000;

/** A pause that can be cut short. */
export class Alarm {
	private isRung = false;
	private ring = () => {};

	/** Ends the pause, or the next one if there is none now. */
	readonly wake = (): void => {
		this.isRung = true;
		this.ring();
	};

	/** Waits for so many milliseconds, or until it is woken. */
	async rest(ms: number): Promise<void> {
		const end = Date.now() + ms;
		const rung = new Promise<void>((resolve) => (this.ring = resolve));
		while (!this.isRung && Date.now() < end) {
			await Promise.race([sleep(Math.min(SLICE_MS, end - Date.now())), rung]);
		}
		this.isRung = false;
	}
}
