import type { IHookFunctions, IWebhookFunctions } from 'n8n-workflow';
import { readFilters } from '../operations/scrape/filters';
import { Parameters } from '../parameters';
import type { Plan } from './decide';
import * as field from './properties';
import { everyMonthOn, next, parseCron, type Schedule } from './schedule';
import { fingerprint, type NodeIdentity } from './secret';

type Context = IHookFunctions | IWebhookFunctions;

export function parametersOf(context: Context): Parameters {
	return new Parameters((name) => context.getNodeParameter(name));
}

export function identityOf(context: Pick<Context, 'getWorkflow' | 'getNode'>): NodeIdentity {
	return { workflowId: context.getWorkflow().id ?? '', nodeId: context.getNode().id };
}

/**
 * Whose record it is. The n8n is part of it, because a workflow that is carried to another n8n may keep its
 * ids and bring its static data along.
 */
export function ownerOf(context: Context): string {
	const { workflowId, nodeId } = identityOf(context);
	return fingerprint([workflowId, nodeId, context.getInstanceId()]);
}

/** What the parameters ask for. @throws InputError if they can only be wrong */
export function readPlan(context: Context): Plan {
	const parameters = parametersOf(context);
	const mode = parameters.get(field.mode);
	const schedule = mode === 'startScrape' ? scheduleOf(parameters) : undefined;
	const timeZone = context.getTimezone();
	// As they are written, not as they are evaluated: an expression gives something else every day.
	const { filtersMode, filters, filtersJson, limit } = context.getNode().parameters;
	const written = filtersMode === 'json' ? ['json', filtersJson] : ['fields', filters];
	return {
		mode,
		events: parameters.get(field.events),
		filters: fingerprint([...written, limit]),
		schedule: fingerprint([schedule, timeZone]),
		nextRun: (after) => (schedule ? next(schedule, timeZone, after) : undefined),
		isUnreachable: false,
	};
}

/** Reads everything once, to find mistakes before anything is done. @throws InputError */
export function checkParameters(context: Context): Plan {
	const parameters = parametersOf(context);
	const plan = readPlan(context);
	parameters.option(field.internalUrl);
	if (plan.mode === 'startScrape') readFilters(parameters);
	return plan;
}

function scheduleOf(parameters: Parameters): Schedule | undefined {
	const kind = parameters.get(field.schedule);
	if (kind === 'once') return undefined;
	if (kind === 'cron') return parseCron(parameters.get(field.cronExpression));
	const minute = parameters.get(field.minute);
	if (kind === 'hourly') return parseCron(`${String(minute)} * * * *`);
	const hour = parameters.get(field.hour);
	if (kind === 'monthly') return everyMonthOn(parameters.get(field.dayOfMonth), hour, minute);
	const days = kind === 'weekly' ? parameters.get(field.weekday) : '*';
	return parseCron(`${String(minute)} ${String(hour)} * * ${days}`);
}
