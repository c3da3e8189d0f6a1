import { NodeOperationError } from 'n8n-workflow';
import { readSchedule } from './schedule';
import { InputError, LeadGenError, ServiceError } from '../common/errors';
import { isRateRefusal } from '../service/retry';
import type { Hooked } from './node';
import { isRefused, textOf } from './notices';
import { urlsOf } from './ownUrl';
import { checkAccount, startBody } from './scrape';

/**
 * Runs when n8n activates the node. Refuses an activation that can only fail, with a message for the user. Starts no
 * scrape, because n8n may call this repeatedly. Gives `trigger()` the URL of the node, which only hooks know.
 * @throws NodeOperationError if the node cannot start a scrape or receive a completion
 */
export async function open(node: Hooked): Promise<void> {
	const { context, memory } = node;
	try {
		const urls = urlsOf(node);
		// When n8n starts, no user reads an error, and the node must receive completions in any case.
		if (/^(activate|update)$/.test(context.getActivationMode())) await check(node);
		memory.urls = urls;
	} catch (error) {
		if (memory.leader) memory.leader.refusal = error;
		throw asNodeError(node, error);
	}
}

/** @throws LeadGenError if the node can only fail */
async function check(node: Hooked): Promise<void> {
	const { context, memory, parameters, isListening } = node;
	const { alwaysOutputData, webhookId } = context.getNode();
	if (alwaysOutputData === true) {
		throw new InputError(
			"'Always Output Data'",
			'must be off in the settings of this node',
			'If it is on, an execution that only starts a scrape runs the workflow without data.',
		);
	}
	if (isListening && webhookId === undefined) {
		const why = 'anyone can guess the URL of this node, because it has no webhookId';
		node.log('warn', `${why}. Delete it, and add it again in the editor.`);
	}
	// The user may have corrected the key just now. An empty one cannot work.
	await node.access(0);
	if (isListening) return;
	startBody(parameters);
	readSchedule(parameters, context.getTimezone());
	// When n8n repeats an activation on its own, the scrape may have used up the credits, and without this activation its
	// completion could not come in.
	if (context.getActivationMode() !== 'activate' || memory.saved.activation !== undefined) return;
	// n8n 2 retries a failed hook after 1, 2, 4 and 8 seconds.
	const refusal = memory.leader?.refusal;
	if (isRefused(refusal)) throw refusal;
	await checkAccount(node).catch((error: unknown) => {
		if (error instanceof LeadGenError && !mayStart(error)) throw error;
		node.log('warn', `the balance is not known: ${String(error)}`);
	});
}

/** Whether the start may succeed though the balance could not be read. A key may start scrapes, and not read it. */
function mayStart(error: LeadGenError): boolean {
	if (!(error instanceof ServiceError)) return false;
	const isForbidden = error.httpStatus === 403 && error.code !== 'UNAUTHORIZED';
	return error.outcome === 'unknown' || isRateRefusal(error) || isForbidden;
}

export function asNodeError({ context }: Hooked, error: unknown): NodeOperationError {
	const { message, advice: description } = textOf(error);
	// In some places n8n shows only the message, so the message includes the advice.
	const text = [message, description].filter((part) => part !== '').join('. ');
	return new NodeOperationError(context.getNode(), text, { description });
}

/**
 * Runs when the workflow is deactivated, also before it is saved or published, and after a refused activation. The next
 * activation by a user is then a new wish.
 */
export function close(node: Hooked): void {
	const { memory } = node;
	delete memory.urls;
	// If n8n could not activate it after a restart, the next update is none of a new node.
	memory.hasLed ||= node.read().activation !== undefined;
	delete memory.saved.activation;
	node.write();
}
