import type { ITriggerResponse } from 'n8n-workflow';
import { instanceOf, registerCron } from '../common/compatibility';
import { InputError, operationError } from '../common/errors';
import { Leader } from './leader';
import type { Hooked, Leading } from './node';
import { asLeadGenError } from './notices';
import { placeOf } from './ownUrl';
import { readSchedule } from './schedule';
import { startBody } from './scrape';

/** The hook of an activation: gives `trigger()` the place of the node. @throws any error, if it can only fail */
export async function activate(node: Hooked): Promise<void> {
	const place = placeOf(node);
	// When n8n starts, no user reads an error, and the node must receive completions in any case.
	if (/^(activate|update)$/.test(node.context.getActivationMode())) await check(node);
	node.state.activated(place);
}

async function check(node: Hooked): Promise<void> {
	if (node.context.getNode().alwaysOutputData === true) {
		const advice = 'If it is on, a start runs the workflow without data.';
		throw new InputError("'Always Output Data'", 'must be off in the settings', advice);
	}
	// The user may have corrected the key just now. An empty one cannot work.
	await node.access(0);
	if (node.isListening) return;
	startBody(node.parameters);
	readSchedule(node.parameters);
}

/**
 * Implements `trigger()`, which n8n calls in the leading main process: registers the schedule, begins starts, and
 * polls.
 * @throws NodeOperationError if n8n does not accept the schedule
 */
export function lead(node: Leading): ITriggerResponse {
	const { context, state, isListening } = node;
	const schedule = isListening ? undefined : readSchedule(node.parameters);
	const isOnce = !isListening && schedule === undefined;
	const attempt = state.open(node, context.getActivationMode(), isOnce);
	const leader = new Leader(node, schedule);
	if (schedule !== undefined) register(node, schedule);
	if (!isListening) void leader.run(attempt);
	const closeFunction = async () => {
		leader.close();
		// Another main process may deactivate the workflow.
		if (instanceOf(context).isMultiMain) delete state.place;
		await Promise.resolve();
	};
	return { closeFunction };
}

/** n8n may keep what a refused activation registered, and register nothing in the next one. So the leader decides. */
function register({ context, state }: Leading, expression: string): void {
	try {
		registerCron(context, expression, (time) => state.leader?.due(time));
	} catch (error) {
		const message = `n8n does not accept the schedule "${expression}": ${asLeadGenError(error).message}`;
		const description = "Check 'How Often', and the time zone in the settings of the workflow.";
		throw operationError(context.getNode(), message, description);
	}
}
