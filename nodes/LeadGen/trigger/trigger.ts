import { NodeOperationError, type ITriggerFunctions, type ITriggerResponse } from 'n8n-workflow';
import { hasSeveralMains, registerCron } from '../common/compatibility';
import { readSchedule } from './schedule';
import { Leader } from './leader';
import { memoryOf, newAttempt, type NodeMemory } from './nodeMemory';
import { textOf } from './notices';
import * as field from './triggerProperties';
import { parametersOf } from './scrape';

/** Before n8n 2.16, several main processes report a save as a deactivation and an activation within this time. */
const SAVE_MS = 2000;

/**
 * Implements `trigger()`, which n8n calls in the leading main process: registers the schedule, begins the starts, and
 * polls the running scrapes.
 * @throws NodeOperationError if n8n does not accept the schedule
 */
export function lead(context: ITriggerFunctions): ITriggerResponse {
	const memory = memoryOf(context);
	// Fresh from the database here, and never again in this context. When another trigger lost its connection, n8n 1
	// repeats the activation with the static data as they were at the last one.
	const saved = memory.read(context.getWorkflowStaticData('global'));
	const { isDeactivated: wasDeactivated } = memory;
	memory.isDeactivated = false;
	const hasOthers = hasSeveralMains(context);
	const hasLed = memory.leader !== undefined || memory.closedAt > 0;
	// n8n repeats an activation on its own after a crash, or when another trigger lost its connection. It does not call
	// `delete` before, so the activation is still saved. If it is not in the static data, because they are old or another
	// node has written an old copy, a single main process still knows whether there was a `delete`.
	const isRepeated = (memory.isRepeated = hasLed && !wasDeactivated && !hasOthers);
	const known = saved.activation ?? (isRepeated ? '' : undefined);
	const activation = wasDeactivated ? undefined : known;
	const isSave = hasOthers && Date.now() - memory.closedAt < SAVE_MS;
	const parameters = parametersOf(context);
	const { isListening: wasListening } = memory;
	const isListening = (memory.isListening = parameters.get(field.mode) === 'listen');
	// n8n calls it an update if the node was added to an active workflow, and n8n 2 also if a crash interrupted an
	// activation.
	const isNew = activation === undefined && memory.closedAt === 0 && !wasDeactivated;
	const isFirst = isNew || wasListening;
	const mode = context.getActivationMode();
	const isAsked = (mode === 'activate' && !isSave) || (mode === 'update' && isFirst);
	// Another main process led meanwhile, and the user may have asked for a start there.
	if (mode === 'leadershipChange') delete memory.wanted;
	const wanted = activation ?? (isAsked ? newAttempt('a') : '');
	if (wanted !== '') memory.wanted ??= wanted;
	const leader = new Leader(context, memory);
	const timeZone = context.getTimezone();
	const schedule = isListening ? undefined : readSchedule(parameters, timeZone);
	memory.schedule = schedule && { ...schedule, timeZone };
	if (schedule) register(context, memory, schedule.expression);
	const work = isListening ? leader.listen() : leader.run(activation);
	work.catch((error: unknown) => {
		context.logger.error(`LeadGen Trigger: ${String(error)}`);
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
function register(context: ITriggerFunctions, memory: NodeMemory, expression: string): void {
	const timeZone = context.getTimezone();
	try {
		registerCron(context, expression, (due) => {
			const { schedule, leader } = memory;
			const isLast = schedule?.expression === expression && schedule.timeZone === timeZone;
			// Two main processes that lead for a moment ask for the same attempt, and the gate lets one of them start.
			if (isLast && schedule.isDue(due)) leader?.start(`s${schedule.roundDown(due).toString(36)}`);
		});
	} catch (error) {
		throw new NodeOperationError(
			context.getNode(),
			`n8n does not accept the schedule "${expression}": ${textOf(error).message}`,
			{ description: "Check 'How Often', and the time zone in the settings of the workflow." },
		);
	}
}
