import { NodeOperationError, type ITriggerResponse } from 'n8n-workflow';
import { hasSeveralMains, registerCron } from '../common/compatibility';
import { readSchedule } from './schedule';
import { follow, Leader } from './leader';
import type { Leading } from './node';
import { newAttempt } from './nodeMemory';
import { ACTIVE_BEFORE, NOT_ACTIVATED, textOf, UNREACHABLE } from './notices';
import { isReachable, urlsOf } from './ownUrl';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
/** How often to ask what another process saved. */
const LEARN_MS = 15 * MINUTE_MS;
/** While n8n gets ready, the node does not report an outage that is shorter than this. */
const PATIENCE_MS = 20 * SECOND_MS;
/** Before n8n 2.16, several main processes report a save as a deactivation and an activation within this time. */
const SAVE_MS = 2 * SECOND_MS;

/**
 * Implements `trigger()`, which n8n calls in the leading main process: registers the schedule, begins the starts, and
 * polls the running scrapes.
 * @throws NodeOperationError if n8n does not accept the schedule
 */
export function lead(node: Leading): ITriggerResponse {
	const { context, memory, parameters, isListening } = node;
	// Fresh from the database here, and never again in this context. n8n repeats an activation on its own after a crash,
	// or when another trigger lost its connection. It does not call `delete` before, so the activation is still known.
	const { activation } = node.read();
	const activationMode = context.getActivationMode();
	const isSave = hasSeveralMains(context) && Date.now() - memory.closedAt < SAVE_MS;
	// n8n calls it an update if the node was added to an active workflow, or listened before, and n8n 2 also if a crash
	// interrupted an activation.
	const isFirst = activationMode === 'update' && !memory.hasLed;
	const isAsked = isFirst || (activationMode === 'activate' && !isSave);
	// Another main process led meanwhile, and the user may have asked for a start there.
	if (activationMode === 'leadershipChange') delete memory.wanted;
	const wanted = activation ?? (isAsked ? newAttempt('a') : '');
	if (wanted !== '') memory.wanted ??= wanted;
	// n8n ran no `delete` before: a command deactivated the workflow, or n8n repeats the activation after a crash.
	const wasActive = activationMode === 'activate' && activation === '' && !memory.hasLed;
	memory.hasLed = !isListening;
	const schedule = isListening ? undefined : readSchedule(parameters, context.getTimezone());
	const leader = new Leader(node, schedule);
	if (schedule) register(node, schedule.expression);
	const work = isListening ? listen(leader) : run(leader, activation, wasActive);
	work.catch((error: unknown) => {
		node.log('error', String(error));
	});
	const closeFunction = async () => {
		leader.close();
		await Promise.resolve();
	};
	return { closeFunction };
}

/**
 * n8n may keep what an activation registered that it then refused, and register nothing in the next one. So each time
 * that is due counts if it is one of the last activation.
 */
function register({ context, memory }: Leading, expression: string): void {
	const timeZone = context.getTimezone();
	try {
		registerCron(context, expression, (time) => {
			memory.leader?.due(expression, timeZone, time);
		});
	} catch (error) {
		throw new NodeOperationError(
			context.getNode(),
			`n8n does not accept the schedule "${expression}": ${textOf(error).message}`,
			{ description: "Check 'How Often', and the time zone in the settings of the workflow." },
		);
	}
}

/** The mode that only listens starts nothing. It polls what the node started before. */
async function listen(leader: Leader): Promise<void> {
	const { node } = leader;
	const { memory } = node;
	const isAsked = memory.wanted !== undefined;
	delete memory.wanted;
	await untilOpen(leader);
	void follow(leader);
	if (!isAsked || leader.isClosed || !memory.urls) return;
	const { credential } = await node.access();
	if (!isReachable(memory.urls.url, credential)) leader.tell(UNREACHABLE);
}

/** @param activation as it is saved */
async function run(
	leader: Leader,
	activation: string | undefined,
	wasActive: boolean,
): Promise<void> {
	const { memory, context } = leader.node;
	await untilOpen(leader);
	const isRestart = /^(init|leadershipChange)$/.test(context.getActivationMode());
	// If the start of the activation is through, there is nothing to save.
	if (!isRestart || activation !== '') await save(leader);
	if (leader.isClosed) return;
	const { wanted } = memory;
	delete memory.wanted;
	if (wanted !== undefined) leader.start(wanted);
	if (isRestart && activation === undefined) leader.tell(NOT_ACTIVATED);
	if (wasActive) leader.tell(ACTIVE_BEFORE);
	void follow(leader);
	if (isRestart || leader.isElsewhere) await learn(leader);
}

/** In queue mode, another process may save the ID of a start, or of one that a user retries. */
async function learn(leader: Leader): Promise<void> {
	do {
		await leader.ask().catch(() => {});
		await leader.wait(LEARN_MS);
	} while (leader.isElsewhere && !leader.isClosed);
}

/** Waits for the hooks of the activation, which know the URL of the node. */
async function untilOpen(leader: Leader): Promise<void> {
	const { memory, context } = leader.node;
	for (const since = Date.now(); !leader.isClosed && !memory.urls;) {
		await leader.wait(SECOND_MS / 4);
		// Before n8n 1.115, n8n runs no hooks when a main process becomes the leader.
		const isLate = Date.now() - since >= PATIENCE_MS;
		if (isLate && context.getActivationMode() === 'leadershipChange')
			memory.urls = urlsOf(leader.node);
	}
}

/** Has the activation saved before its start begins: otherwise n8n could repeat it as a new one after a crash. */
async function save(leader: Leader): Promise<void> {
	const { memory } = leader.node;
	const since = Date.now();
	for (
		let pauseMs = SECOND_MS / 2;
		!leader.isClosed;
		pauseMs = Math.min(1.5 * pauseMs, MINUTE_MS)
	) {
		try {
			const activation = memory.wanted ?? memory.saved.activation ?? '';
			if ((await leader.ask({ activation })).isActive) return;
		} catch (error) {
			if (Date.now() - since >= PATIENCE_MS) leader.tell(textOf(error));
		}
		await leader.wait(pauseMs);
	}
}
