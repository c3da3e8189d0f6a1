import { NodeOperationError, type ITriggerResponse } from 'n8n-workflow';
import { hasSeveralMains, registerCron } from '../common/compatibility';
import { InputError, ServiceError } from '../common/errors';
import { isRateRefusal } from '../service/retry';
import { Leader } from './leader';
import type { Hooked, Leading } from './node';
import { asNodeError, NOT_ACTIVATED, noticeOf } from './notices';
import { placeOf } from './ownUrl';
import { newAttempt } from './saved';
import { readSchedule } from './schedule';
import { checkCredits, startBody } from './scrape';

/** While n8n gets ready, the node does not report an outage that is shorter than the first. */
const [PATIENCE_MS, MAX_PAUSE_MS] = [20_000, 60_000];

/** The hook of an activation: gives `trigger()` the place of the node. @throws NodeOperationError if it can only fail */
export async function open(node: Hooked): Promise<void> {
	try {
		const place = placeOf(node);
		// When n8n starts, no user reads an error, and the node must receive completions in any case.
		if (/^(activate|update)$/.test(node.context.getActivationMode())) await check(node);
		node.memory.place = place;
	} catch (error) {
		throw asNodeError(node.context.getNode(), error);
	}
}

async function check(node: Hooked): Promise<void> {
	const { context, parameters } = node;
	if (context.getNode().alwaysOutputData === true) {
		const advice = 'If it is on, a start runs the workflow without data.';
		throw new InputError("'Always Output Data'", 'must be off in the settings', advice);
	}
	// The user may have corrected the key just now. An empty one cannot work.
	await node.access(0);
	if (node.isListening) return;
	startBody(parameters);
	readSchedule(parameters);
	// What n8n repeats on its own must not fail because the scrape used up the credits.
	if (context.getActivationMode() !== 'activate' || node.read().activation !== undefined) return;
	await checkCredits(node).catch((error: unknown) => {
		if (!(error instanceof ServiceError)) throw error;
		if (error.outcome !== 'unknown' && !isRateRefusal(error)) throw error;
		node.log('warn', `the balance is not known: ${String(error)}`);
	});
}

/**
 * Implements `trigger()`, which n8n calls in the leading main process: registers the schedule, begins starts, and polls.
 *
 * The rule of activations: activating asks for one start, under an attempt that is saved before the start begins and
 * cleared by `delete`. What n8n repeats has the same attempt. A save asks for none, unless the node never saved anything.
 * @throws NodeOperationError if n8n does not accept the schedule
 */
export function lead(node: Leading): ITriggerResponse {
	const { context, memory, isListening } = node;
	const mode = context.getActivationMode();
	// Another main process led meanwhile, and the user may have asked for a start there.
	if (mode === 'leadershipChange') Object.assign(memory, { wanted: '', isClosed: false });
	// Fresh from the database here, and never again in this context.
	const { activation } = node.read();
	memory.isClosed = false;
	const isAsked = mode === 'activate' || (mode === 'update' && !node.hasRecord);
	if (!isListening) memory.wanted ||= activation ?? (isAsked ? newAttempt('a') : '');
	const schedule = isListening ? undefined : readSchedule(node.parameters);
	const leader = new Leader(node, schedule);
	if (schedule !== undefined) register(node, schedule);
	if (!isListening) void run(leader, activation);
	const closeFunction = async () => {
		leader.close();
		// Another main process may deactivate the workflow.
		if (hasSeveralMains(context)) delete memory.place;
		await Promise.resolve();
	};
	return { closeFunction };
}

/** n8n may keep what a refused activation registered, and register nothing in the next one. So the leader decides. */
function register({ context, memory }: Leading, expression: string): void {
	const timeZone = context.getTimezone();
	try {
		registerCron(context, expression, (time) => memory.leader?.due(expression, timeZone, time));
	} catch (error) {
		const message = `n8n does not accept the schedule "${expression}": ${noticeOf(error).message}`;
		const description = "Check 'How Often', and the time zone in the settings of the workflow.";
		throw new NodeOperationError(context.getNode(), message, { description });
	}
}

async function run(leader: Leader, activation: string | undefined): Promise<void> {
	const { memory, context } = leader.node;
	while (!memory.place && !leader.isClosed) await leader.wait(250);
	leader.node.addresses = memory.place?.addresses ?? [];
	const isRestart = /^(init|leadershipChange)$/.test(context.getActivationMode());
	// If the start of the activation is through, there is nothing to save.
	if (!isRestart || activation !== '') await save(leader);
	if (leader.isClosed) return;
	if (memory.wanted !== '') leader.start(memory.wanted);
	memory.wanted = '';
	if (isRestart && activation === undefined) leader.notify(NOT_ACTIVATED);
	await leader.poll();
}

/** Has the activation saved before its start begins: otherwise n8n could repeat it as a new one after a crash. */
async function save(leader: Leader): Promise<void> {
	const since = Date.now();
	while (!leader.isClosed) {
		try {
			if ((await leader.post({ activation: leader.node.memory.wanted })).isActive) return;
		} catch (error) {
			if (Date.now() - since >= PATIENCE_MS) leader.notify(noticeOf(error));
		}
		await leader.wait(Math.min(500 + (Date.now() - since) / 3, MAX_PAUSE_MS));
	}
}
