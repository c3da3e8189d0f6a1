import { LeadGenError } from '../service/errors';

/** Texts for the user about work in the background. Failed executions show them. */

export interface NoticeText {
	message: string;
	advice: string;
}

/** The message and the advice of any error. */
export function textOf(error: unknown): NoticeText {
	const message = error instanceof Error ? error.message : String(error);
	return { message, advice: error instanceof LeadGenError ? error.advice : '' };
}

const START_AGAIN =
	'To start a scrape, unpublish the workflow and publish it again (n8n 1: deactivate and activate it).';

export const UNREACHABLE: NoticeText = {
	message: 'The service cannot reach this n8n, so no completion will arrive',
	advice:
		'The address of n8n works only on this machine or network. Set WEBHOOK_URL to an address that the internet can reach, such as the address of a tunnel. Restart n8n and use the new production URL. Or let this node start the scrapes: it then asks for their status itself.',
};

export const NOT_KNOWN: NoticeText = {
	message: 'No scrape was started, because one may already be running',
	advice: `n8n has no data of this node, though its workflow was active before: the node was added to an active workflow, n8n stopped during the activation, or the data was lost. The node still receives completions. Check in the dashboard of your account whether a scrape runs. ${START_AGAIN}`,
};

/** @param attempt its ID, if the log names it */
export function unknownOutcome(why: string, attempt?: string): NoticeText {
	const inLog = attempt === undefined ? '' : ` The log names it start attempt ${attempt}.`;
	return {
		message: 'The node could not confirm whether a scrape was started',
		advice: `${why}. The scrape may be running, and you may have paid for it, so the node did not start it again. Check the dashboard and the credits of your account. If the scrape is running and the service sends its notification, the workflow runs when it finishes. ${START_AGAIN}${inLog}`,
	};
}

export function notStarted({ message, advice }: NoticeText): NoticeText {
	return {
		message: `No scrape was started: ${message}`,
		advice: `${advice} ${START_AGAIN}`.trim(),
	};
}

export function notStartedYet({ message, advice }: NoticeText): NoticeText {
	return {
		message: `No scrape could be started for an hour: ${message}`,
		advice: `${advice} The node keeps trying, and starts one scrape as soon as it can.`.trim(),
	};
}

export function missingScrape(id: string): NoticeText {
	return {
		message: `The service can no longer find scrape ${id}`,
		advice: `The node asks for the status until a week after the start. If the service finds the scrape again, its completion arrives. Look for the scrape in the dashboard of your account. ${START_AGAIN}`,
	};
}

export function repeatedScrape(id: string): NoticeText {
	return {
		message: `A new scrape has the ID of an earlier one: ${id}`,
		advice:
			'The workflow ran for this ID before, so it does not run when the new scrape finishes. This can happen after a change of the account. Look for the scrape in the dashboard of your account. To receive later scrapes, replace this node with a new one.',
	};
}

export function stuckScrape(id: string, status: string): NoticeText {
	return {
		message: `The scrape ${id} is not finished after a day`,
		advice: `Its status is "${status}". It no longer delays other starts. If it finishes within a week of its start, its completion arrives. Look for the scrape in the dashboard of your account.`,
	};
}

export function noStatus(id: string, { message, advice }: NoticeText): NoticeText {
	return {
		message,
		advice: `${advice} The node asks for the status of scrape ${id} until the service gives it, for a week at most.`,
	};
}

export const NOT_REACHED: NoticeText = {
	message: 'n8n cannot reach the production URL of this node',
	advice:
		'The node calls this URL to save what it does and to run the workflow. It keeps trying. Set the option "Internal URL" to the address at which n8n reaches itself, such as http://127.0.0.1:5678.',
};

export function cannotWork(problem: string): NoticeText {
	return {
		message: `The node can neither start scrapes nor deliver completions: ${problem}`,
		advice: 'It keeps trying. Solve the problem, then publish or activate the workflow again.',
	};
}
