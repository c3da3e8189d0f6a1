import { LeadGenError, ServiceError } from '../common/errors';
import { levelsOf } from '../service/networkErrors';

/** Texts for the user about what happens without them. Failed executions show them. */

/** How long the node asks for the status of a scrape, from its start. docs/trigger.md says it, too. */
export const GIVE_UP = { ms: 7 * 24 * 60 * 60_000, text: 'a week' };

export interface NoticeText {
	message: string;
	advice: string;
}

/** How an execution ends at the trigger as a success, for the user who opens it. */
export class Ended {
	constructor(
		readonly message: string,
		readonly type: 'info' | 'warning' = 'info',
	) {}
}

/** The message and the advice of any error. */
export function textOf(error: unknown): NoticeText {
	const message = error instanceof Error ? error.message : String(error);
	return { message, advice: error instanceof LeadGenError ? error.advice : '' };
}

/** Whether the service itself refused the request. */
export function isRefused(error: unknown): error is ServiceError {
	return error instanceof ServiceError && error.outcome === 'refused';
}

const START_AGAIN =
	'To start a scrape, unpublish the workflow and publish it again (n8n 1: deactivate and activate it).';

export const UNREACHABLE: NoticeText = {
	message: 'The service cannot reach this n8n, so no completion will arrive',
	advice:
		'The address of n8n works only on this machine or network. Set WEBHOOK_URL to an address that the internet can reach, such as the address of a tunnel. Restart n8n and use the new production URL. Or let this node start the scrapes: it then asks for their status itself.',
};

export const NOT_ACTIVATED: NoticeText = {
	message: 'No scrape was started, because n8n does not know that this node was activated',
	advice: `n8n stopped during the activation, or the data of the node was lost. The node receives completions. ${START_AGAIN}`,
};

export const ACTIVE_BEFORE: NoticeText = {
	message: 'This activation started no scrape, because the node was active before',
	advice: `n8n did not tell the node that the workflow was deactivated, for example because a command did it. Or n8n crashed, and repeated the activation. The node receives completions. ${START_AGAIN}`,
};

export function notStarted(error: unknown): LeadGenError {
	const { message, advice } = textOf(error);
	return new LeadGenError(
		`No scrape was started: ${message}`,
		`${advice} Then retry this execution, which starts the scrape.`.trim(),
	);
}

/** @param error why the outcome of the start is not known */
export function unknownOutcome(error: unknown): LeadGenError {
	return new LeadGenError(
		'The node could not confirm whether a scrape was started',
		`${textOf(error).message}. The scrape may be running, and you may have paid for it, so the node does not start it again, even if you retry this execution. Check the dashboard and the credits of your account. If the scrape is running and the service sends its notification, the workflow runs when it finishes. ${START_AGAIN}`,
	);
}

export function missingScrape(id: string): NoticeText {
	return {
		message: `The service can no longer find scrape ${id}`,
		advice: `If the node uses the credential of another account now, choose the one that started the scrape. The node asks for the status until ${GIVE_UP.text} after the start, and if the service finds the scrape again, its completion arrives. Look for the scrape in the dashboard of your account. ${START_AGAIN}`,
	};
}

export function slowScrape(id: string): NoticeText {
	return {
		message: `The scrape ${id} is not finished after a day`,
		advice: `If it finishes within ${GIVE_UP.text} of its start, its completion arrives. Look for the scrape in the dashboard of your account.`,
	};
}

export function noStatus(id: string, error: unknown): NoticeText {
	const { message, advice } = textOf(error);
	return {
		message: `The service does not return the status of scrape ${id}`,
		advice: `${message}. ${advice} The node asks for it until the service returns it, for ${GIVE_UP.text} at most.`,
	};
}

/** Strangers may name scrapes where the node only listens, and the service may repeat it, so this tells neither. */
export function cannotVerify(error: unknown): NoticeText {
	const { message, advice } = textOf(error);
	const status = error instanceof ServiceError ? error.httpStatus : undefined;
	const why = status === undefined ? message : `the service answers HTTP ${String(status)}`;
	return {
		message: `The node cannot verify notifications: ${why}`,
		advice: `${advice} The node keeps trying for an hour after each notification.`.trim(),
	};
}

/** The node calls its own URL, and no address reached it. */
export class NotReachedError extends LeadGenError {
	/** @param problems one for each address */
	constructor(problems: unknown[]) {
		super(
			'n8n cannot reach the webhook URL of this node',
			`The node calls this URL itself, and starts no scrape until it can. If the workflow is active, the node keeps trying. ${causeOf(problems)}`,
		);
	}
}

/** What to do about each cause that has been seen. */
function causeOf(problems: unknown[]): string {
	const levels = problems.flatMap(levelsOf);
	const text = levels
		.map(({ name, message, httpCode }) => [name, message, httpCode].join(' '))
		.join(' ');
	if (/Ssrf/i.test(text)) {
		return 'The SSRF protection of n8n blocks the address. Add it to N8N_SSRF_ALLOWED_HOSTNAMES or N8N_SSRF_ALLOWED_IP_RANGES.';
	}
	if (/\b404\b/.test(text)) {
		return 'n8n answers that the URL is not registered. If the node was created over the API, delete it and add it again in the editor, so that it gets an address of its own. Otherwise the workflow is not active.';
	}
	if (/\b(407|50[234])\b|tunnel|proxy/i.test(text)) {
		return "A proxy answers instead of n8n. If HTTP_PROXY or HTTPS_PROXY is set, add the host of n8n to NO_PROXY. Otherwise set the option 'Internal URL' to the address at which n8n reaches itself, such as http://127.0.0.1:5678.";
	}
	return "Set the option 'Internal URL' to the address at which n8n reaches itself, such as http://127.0.0.1:5678.";
}
