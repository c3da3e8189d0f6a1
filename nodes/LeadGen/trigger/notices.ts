import { LeadGenError, levelsOf, ServiceError } from '../common/errors';

/**
 * How an execution ends at the trigger as a success, for the user who opens it. `event` is for the list of executions.
 */
export type Ended = {
	message: string;
	event: string;
	scrapeId?: string | undefined;
	type?: 'info' | 'warning';
};

export function asLeadGenError(error: unknown): LeadGenError {
	if (error instanceof LeadGenError) return error;
	return new LeadGenError(error instanceof Error ? error.message : String(error), '');
}

/** What happened, and what to do: in some places n8n shows only the message of an error. */
export function errorText(error: unknown): string {
	const { message, advice } = asLeadGenError(error);
	return advice === '' ? message : `${message}. ${advice}`;
}

/** Whether the service itself refused the request. */
export function isRefused(error: unknown): error is ServiceError {
	return error instanceof ServiceError && error.outcome === 'refused';
}

export const START_AGAIN =
	'To start a scrape, unpublish the workflow and publish it again (n8n 1: deactivate and activate it).';

export const NOT_ACTIVATED = new LeadGenError(
	'No scrape was started, because n8n does not know that this node was activated',
	`n8n stopped during the activation, or the data of the node was lost. The node receives completions. ${START_AGAIN}`,
);

export function notStarted(error: unknown): LeadGenError {
	const { message, advice } = asLeadGenError(error);
	const next = `${advice} Then retry this execution, which starts the scrape.`.trim();
	return new LeadGenError(`No scrape was started: ${message}`, next);
}

/** @param error why the outcome of the start is not known */
export function unknownOutcome(error: unknown): LeadGenError {
	const advice = `${asLeadGenError(error).message}. The scrape may be running, and you may have paid for it, so the node does not start it again, even if you retry this execution. Check the dashboard and the credits of your account. If the scrape is running and the service sends its notification, the workflow runs when it finishes. ${START_AGAIN}`;
	return new LeadGenError('The node could not confirm whether a scrape was started', advice);
}

/**
 * The node does not see the end of a scrape. @param id if it is known @param problem why
 * @param next what the user can do, and what the node does
 */
export function endNotSeen(id: string | undefined, problem: unknown, next: string): LeadGenError {
	const { message, advice } = asLeadGenError(problem);
	const what = id === undefined ? 'the scrape of this notification' : `scrape ${id}`;
	const text = `The node does not see the end of ${what}: ${message}`;
	return new LeadGenError(text, `${advice} ${next}`.trim());
}

/** A problem for {@link endNotSeen}. */
export const MISSING = new LeadGenError(
	'the service does not find it',
	'If the credential was exchanged for that of another account, choose the one that started the scrape.',
);

export const NOT_REACHED = 'n8n cannot reach the webhook URL of this node';

/** The node calls its own URL, and no address reached it. @param problems one for each address */
export function notReached(problems: Map<string, unknown>): LeadGenError {
	const told = [...problems]
		.map(([url, error]) => `${url} (${levelsOf(error).at(-1)?.message ?? String(error)})`)
		.join(' and ');
	const advice = `The node calls this URL itself, and starts no scrape until it can. If the workflow is active, the node keeps trying. It tried ${told}. Set the option 'Internal URL' to the address at which n8n reaches itself, such as http://127.0.0.1:5678. If a proxy answers, let it pass requests below /webhook/, or add the host of n8n to NO_PROXY. If n8n answers 404 although the workflow is published, delete the node and add it again in the editor.`;
	return new LeadGenError(NOT_REACHED, advice);
}
