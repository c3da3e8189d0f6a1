import type { IExecuteFunctions } from 'n8n-workflow';
import { pause } from '../common/pause';

const EVERY_MS = 5000;

/** Says in n8n's log and in the console of the browser how many items are done, until the signal is aborted. */
export async function sayProgress(
	context: IExecuteFunctions,
	total: number,
	done: () => number,
	signal: AbortSignal,
): Promise<never> {
	for (;;) {
		await pause(EVERY_MS, signal);
		const line = `${context.getNode().name}: ${String(done())} of ${String(total)} items done`;
		context.logger.info(line);
		context.sendMessageToUI(line);
	}
}
