import type { IHookFunctions, IWebhookFunctions } from 'n8n-workflow';
import { Parameters } from '../parameters';
import { next, type Schedule } from '../schedule/cron';
import { readSchedule } from '../schedule/fields';
import { ownAddresses } from './ownUrl';
import * as field from './properties';
import { fingerprint, type NodeIdentity } from './signature';

type Context = IHookFunctions | IWebhookFunctions;

/** The parameters of the node that decisions depend on. */
export interface Plan {
	mode: 'startScrape' | 'listen';
	events: string[];
	/** Fingerprint of the filters and the limit. */
	filters: string;
	/** When to start; undefined if the node starts only once. */
	schedule?: Schedule;
	timeZone: string;
	/** The production URL of the node, as the outside sees it. */
	url: string;
}

export function parametersOf(context: Context): Parameters {
	return new Parameters((path, ifMissing) => context.getNodeParameter(path, ifMissing));
}

export function identityOf(
	context: Pick<Context, 'getInstanceId' | 'getWorkflow' | 'getNode'>,
): NodeIdentity {
	const instanceId = context.getInstanceId();
	return { instanceId, workflowId: context.getWorkflow().id ?? '', nodeId: context.getNode().id };
}

function urlOf(context: Context): string {
	return context.getNodeWebhookUrl('default') ?? '';
}

/**
 * The addresses at which the node reaches itself, the likeliest first.
 * @param known the addresses so far; if they are the same, the one that answered last stays first
 */
export function addressesOf(context: Context, known: string[] = []): string[] {
	const internal = parametersOf(context).option(field.internalUrl);
	const now = ownAddresses(urlOf(context), internal, context.getNode().webhookId !== undefined);
	const isSame = now.length === known.length && now.every((each) => known.includes(each));
	return isSame ? known : now;
}

/** Reads the plan from the parameters. @throws InputError if a parameter is invalid */
export function readPlan(context: Context): Plan {
	const parameters = parametersOf(context);
	const mode = parameters.get(field.mode);
	// Uses the parameters as written, not as evaluated: an expression may return another value every day.
	const { filtersMode, filters, filtersJson, limit } = context.getNode().parameters;
	const written = filtersMode === 'json' ? ['json', filtersJson] : ['fields', filters];
	return {
		mode,
		events: parameters.get(field.events),
		filters: fingerprint([...written, limit]),
		schedule: mode === 'startScrape' ? readSchedule(parameters) : undefined,
		timeZone: context.getTimezone(),
		url: urlOf(context),
	};
}

/** The first scheduled start after a time, in milliseconds since 1970; undefined if there is none. */
export function nextRun({ schedule, timeZone }: Plan, after: number): number | undefined {
	return schedule && next(schedule, timeZone, after);
}
