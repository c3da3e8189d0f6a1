import { NodeOperationError, type INode } from 'n8n-workflow';
import { LeadGenError, levelsOf, ServiceError } from '../common/errors';

/** What a failed execution tells the user about what happens without them. */
export type Notice = { message: string; advice: string };

/** How an execution ends at the trigger as a success, for the user who opens it. */
export class Ended {
	/** @param event for n8n's list of executions */
	constructor(
		readonly message: string,
		readonly event: string,
		readonly scrapeId: string | undefined,
		readonly type: 'info' | 'warning' = 'info',
	) {}
}

export function noticeOf(error: unknown): Notice {
	const message = error instanceof Error ? error.message : String(error);
	return { message, advice: error instanceof LeadGenError ? error.advice : '' };
}

export function noticeText({ message, advice }: Notice): string {
	return advice === '' ? message : `${message}. ${advice}`;
}

/** In some places n8n shows only the message, so the message includes the advice. */
export function asNodeError(node: INode, error: unknown): NodeOperationError {
	const notice = noticeOf(error);
	return new NodeOperationError(node, noticeText(notice), { description: notice.advice });
}

/** Whether the service itself refused the request. */
export function isRefused(error: unknown): error is ServiceError {
	return error instanceof ServiceError && error.outcome === 'refused';
}

export const START_AGAIN =
	'To start a scrape, unpublish the workflow and publish it again (n8n 1: deactivate and activate it).';

export const NOT_ACTIVATED: Notice = {
	message: 'No scrape was started, because n8n does not know that this node was activated',
	advice: `n8n stopped during the activation, or the data of the node was lost. The node receives completions. ${START_AGAIN}`,
};

export function notStarted(error: unknown): LeadGenError {
	const { message, advice } = noticeOf(error);
	const isInvalid = error instanceof ServiceError && error.code === 'INVALID_REQUEST';
	// The service layer speaks of items, which a trigger has not.
	const own = isInvalid ? "Check the filters and 'Limit' of this node." : advice;
	const next = `${own} Then retry this execution, which starts the scrape.`.trim();
	return new LeadGenError(`No scrape was started: ${message}`, next);
}

/** @param error why the outcome of the start is not known */
export function unknownOutcome(error: unknown): LeadGenError {
	const advice = `${noticeOf(error).message}. The scrape may be running, and you may have paid for it, so the node does not start it again, even if you retry this execution. Check the dashboard and the credits of your account. If the scrape is running and the service sends its notification, the workflow runs when it finishes. ${START_AGAIN}`;
	return new LeadGenError('The node could not confirm whether a scrape was started', advice);
}

/** @param problem why the node does not see the end of a scrape */
export function endNotSeen(id: string, problem: unknown): Notice {
	const { message, advice } = noticeOf(problem);
	return {
		message: `The node does not see the end of scrape ${id}: ${message}`,
		advice: `${advice} The node asks for the status until a week after the start, and runs the workflow if it sees the end. Look for the scrape in the dashboard of your account.`,
	};
}

/** Problems for {@link endNotSeen}. */
export const MISSING = new LeadGenError(
	'the service does not find it',
	'If the credential was exchanged for that of another account, choose the one that started the scrape.',
);
export const SLOW = new LeadGenError('it is not finished after a day', '');

/** The service gives no status that ends the scrape of a notification. @param problem why, if it gives none at all */
export function unseenCompletion(
	id: string | undefined,
	problem: unknown,
	{ isOwn, hasLeads }: { isOwn: boolean; hasLeads: boolean },
): LeadGenError {
	const { message, advice } = noticeOf(problem);
	const what = id === undefined ? 'the scrape of this notification' : `scrape ${id}`;
	const leads = hasLeads ? 'Its leads are in the input of this execution. ' : '';
	const retry = hasLeads ? 'Retry runs the workflow with them' : 'Retry runs the workflow';
	const until = isOwn
		? ', as long as the node has not seen the end itself. The node leaves an hour for that, and then runs the workflow without them.'
		: ' when the scrape is finished.';
	const text = `${advice} ${leads}${retry}${until}`.trim();
	return new LeadGenError(`The node does not see the end of ${what}: ${message}`, text);
}

/** Problems for {@link unseenCompletion}. */
export const NOT_FINISHED = new LeadGenError(
	'it is not finished ten minutes after its notification',
	'',
);
export const NOT_KNOWN = new LeadGenError(
	MISSING.message,
	'Anyone who knows the URL can send such a notification, which is in the input of this execution. Look for the scrape in the dashboard of your account.',
);

export const NOT_REACHED = 'n8n cannot reach the webhook URL of this node';

/** The node calls its own URL, and no address reached it. */
export class NotReachedError extends LeadGenError {
	/** @param problems one for each address */
	constructor(problems: unknown[]) {
		super(
			NOT_REACHED,
			`The node calls this URL itself, and starts no scrape until it can. If the workflow is active, the node keeps trying. ${causeOf(problems)}`,
		);
	}
}

function causeOf(problems: unknown[]): string {
	const texts = problems.map((problem) =>
		levelsOf(problem)
			.map(({ message, httpCode }) => [message, httpCode].join(' '))
			.join(' '),
	);
	// Another n8n may listen at one address, and not know the URL.
	if (texts.length > 0 && texts.every((text) => /\b404\b/.test(text))) {
		return 'n8n answers that the URL is not registered. If the node was created over the API, delete it and add it again in the editor, so that it gets an address of its own. Otherwise the workflow is not active.';
	}
	const text = texts.join(' ');
	const [status] = /\b40[13]\b/.exec(text) ?? [];
	const front =
		status &&
		`Something in front of n8n answers HTTP ${status}. Let it pass requests below /webhook/.`;
	const proxy =
		'A proxy answers instead of n8n. If HTTP_PROXY or HTTPS_PROXY is set, add the host of n8n to NO_PROXY.';
	const first = /\b(407|50[234])\b|tunnel|proxy/i.test(text) ? proxy : front;
	return `${first === undefined ? 'Set' : `${first} Otherwise set`} the option 'Internal URL' to the address at which n8n reaches itself, such as http://127.0.0.1:5678.`;
}
