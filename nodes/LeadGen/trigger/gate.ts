import {
	NodeOperationError,
	sleep,
	type IExecuteFunctions,
	type INodeExecutionData,
} from 'n8n-workflow';
import { keepsFailedExecutions } from '../compatibility';
import type { Delivery } from './delivery';
import { outputItems } from '../leads';
import { cachedAccess, acknowledged, FRESH_MS, memoryOf } from './memory';
import { sendMessage } from './ownUrl';
import type { NoticeText } from './notices';
import { identityOf } from './plan';
import { PROCESS } from './process';

/** Each completion uses two entries of n8n's deduplication record. */
const MAX_ENTRIES = 4000;
const MAX_PASSED = 2000;
const LOOKS = 5;
const PAUSE_MS = 150;

/**
 * Runs first in each execution that the trigger begins, in any process. After a crash, or with two processes, a
 * completion may be delivered twice. n8n's own deduplication lets only the first delivery through.
 * @returns null for a completion that was delivered before, which ends the execution
 * @throws NodeOperationError with a message for the user
 */
export async function gate(context: IExecuteFunctions): Promise<INodeExecutionData[][] | null> {
	const items = context.getInputData();
	const { leadGenDelivery, leadGenNotice, ...json } = items[0]?.json ?? {};
	const delivery = leadGenDelivery as Delivery | undefined;
	const notice = leadGenNotice as NoticeText | undefined;
	if (delivery) {
		const isNew = context.getMode() === 'manual' || (await isLetThrough(context, delivery));
		const words = isNew ? 'runs in' : 'was delivered before, so it ends';
		context.logger.info(
			`LeadGen Trigger: ${delivery.id} ${words} execution ${context.getExecutionId()} in process ${PROCESS}, delivered by ${delivery.process}`,
		);
		acknowledge(context, delivery).catch(() => {});
		if (!isNew) return drop(context);
	}
	if (notice) return reportNotice(context, notice);
	return [items.length > 0 ? outputItems(context, json) : items];
}

function drop(context: IExecuteFunctions): null {
	if (context.getNode().alwaysOutputData !== true) return null;
	throw new NodeOperationError(context.getNode(), 'This completion was delivered before', {
		description: 'Switch off "Always Output Data" in the settings of this node.',
	});
}

function reportNotice(
	context: IExecuteFunctions,
	{ message, advice }: NoticeText,
): INodeExecutionData[][] | null {
	const { onError } = context.getNode();
	if (onError === 'continueErrorOutput') return [[{ json: { error: { message, advice } } }]];
	// With "Continue", n8n would pass the notice on as if it were a scrape.
	if (onError === 'continueRegularOutput') {
		context.logger.error(`LeadGen Trigger: ${message}. ${advice}`);
		return null;
	}
	throw new NodeOperationError(context.getNode(), message, { description: advice });
}

/** Whether this is the execution that may run for the completion, or a retry of it. */
async function isLetThrough(context: IExecuteFunctions, delivery: Delivery): Promise<boolean> {
	if (!(await isFirst(context, delivery))) return false;
	// This process also remembers what it let through, in case the database could not record it.
	const { passed } = memoryOf(identityOf(context));
	const { key, process, deliveredAt } = delivery;
	const own = `${process} ${String(deliveredAt)}`;
	if ((passed.get(key) ?? own) !== own) return false;
	const [oldest = key] = passed.keys();
	if (passed.size >= MAX_PASSED) passed.delete(oldest);
	passed.set(key, own);
	return true;
}

/** Whether n8n has no record of the completion, or a record of this same delivery. */
async function isFirst(
	context: IExecuteFunctions,
	{ key, process, deliveredAt }: Delivery,
): Promise<boolean> {
	// If n8n does not save failed executions, nobody can retry one that a crash interrupted. So the completion then may
	// run once in each process.
	const completion = keepsFailedExecutions(context) ? key : `${key} ${PROCESS}`;
	const own = `${completion} ${process} ${String(deliveredAt)}`;
	for (let looks = 1; looks <= LOOKS; looks++) {
		try {
			const fresh = await record(context, [completion, own]);
			// A retry by a user, "Retry On Fail", or a worker that took over from a worker that died.
			const isRetry = !fresh.includes(own);
			if (!fresh.includes(completion)) return isRetry;
			if (looks === 1 && process === PROCESS) return true;
		} catch (error) {
			// The first records of two processes can collide.
			context.logger.warn(`LeadGen Trigger: the deduplication failed: ${String(error)}`);
		}
		// Another process may have overwritten this record: n8n reads the whole record, then writes it.
		await sleep(PAUSE_MS * (1 + Math.random()));
	}
	// Let the delivery through, also if nothing was recorded: running the workflow twice is better than losing a completion.
	return true;
}

/** Records the values, after the checks before it. @returns those that were not recorded before */
async function record(context: IExecuteFunctions, values: string[]): Promise<string[]> {
	const memory = memoryOf(identityOf(context));
	// Two concurrent checks would overwrite each other's record.
	const check = memory.deduplication.then(async () => {
		const options = { mode: 'entries', maxEntries: MAX_ENTRIES } as const;
		return await context.helpers.checkProcessedAndRecord(values, 'node', options);
	});
	memory.deduplication = check.catch(() => {});
	return (await check).new.map(String);
}

/** Reports that the delivery arrived, so that it is not repeated. */
async function acknowledge(
	context: IExecuteFunctions,
	{ id, at, process, addresses }: Delivery,
): Promise<void> {
	const memory = memoryOf(identityOf(context));
	try {
		if (process === PROCESS) acknowledged(memory, id, at);
		else {
			const { signer } = await cachedAccess(context, memory, FRESH_MS);
			await sendMessage(context, addresses, signer, { begun: { id, at } });
		}
	} catch (error) {
		context.logger.warn(`LeadGen Trigger: a delivery was not acknowledged: ${String(error)}`);
	}
}
