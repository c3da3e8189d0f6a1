import type { IExecuteFunctions } from 'n8n-workflow';
import { pause } from '../common/pause';

const EVERY_MS = 5000;

/**
 * Says every few seconds how many items are done, and about how long the rest takes, in n8n's log and in the console of
 * the browser, until the signal is aborted.
 */
export async function sayProgress(
	context: IExecuteFunctions,
	total: number,
	done: () => number,
	signal: AbortSignal,
): Promise<never> {
	const began = Date.now();
	for (;;) {
		await pause(EVERY_MS, signal);
		const seconds = Math.ceil((((Date.now() - began) / done()) * (total - done())) / 1000);
		const left = done() > 0 ? `, about ${String(seconds)} s left` : '';
		const line = `${context.getNode().name}: ${String(done())} of ${String(total)} items done${left}`;
		context.logger.info(line);
		context.sendMessageToUI(line);
	}
}
