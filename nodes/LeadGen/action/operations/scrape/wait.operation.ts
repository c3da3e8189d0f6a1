import type { IDataObject } from 'n8n-workflow';
import { count } from '../../../common/values';
import { isObject, isText } from '../../../common/json';
import { numberField, type Parameters } from '../../../common/parameters';
import { pause, timeoutSignal } from '../../../common/pause';
import { LeadGenError, NotAttemptedError, ServiceError } from '../../../common/errors';
import { endOf, pollRequest } from '../../../service/request';
import type { Service } from '../../../service/service';
import { excerpt } from '../../../service/answer';
import type { Operation } from '../operation';
import { getStatus, scrapeId } from './getStatus.operation';

const pollInterval = numberField({
	displayName: 'Poll Interval (Seconds)',
	name: 'pollInterval',
	typeOptions: { minValue: 0 },
	default: 5,
	description: 'How long to wait before asking for the status again',
});

const timeout = numberField({
	displayName: 'Timeout (Minutes)',
	name: 'timeout',
	typeOptions: { minValue: 0 },
	default: 60,
	description: 'How long to wait at most. The scrape keeps running after that. 0 sets no limit.',
});

/**
 * How long the service may give no status, as while it is restarted; and refuse it, as of a new scrape that it does not
 * find yet.
 */
const [MAX_SILENCE_MS, MAX_REFUSED_MS] = [10 * 60_000, 60_000];

/**
 * Reads how to wait for a scrape.
 * @returns a function that polls the status until the scrape has ended. It returns the last status, and throws a
 * LeadGenError with it as details if the scrape failed or time ran out
 */
export function readWait(parameters: Parameters) {
	const intervalMs = parameters.option(pollInterval) * 1000;
	const minutes = parameters.option(timeout);
	return async (id: string, service: Service): Promise<IDataObject> => {
		const last = await lastStatus(id, service, intervalMs, minutes);
		const end = endOf(last);
		if (end === 'completed') return last;
		const { message, error } = last;
		const reason = [message, error, isObject(error) && error.message].find(isText);
		const [problem, advice] =
			end === 'failed'
				? [`failed${reason ? `: ${excerpt(reason)}` : ''}`, 'To get leads, start a new scrape.']
				: [`did not finish within ${count(minutes, 'minute')}`, waitAgain(id)];
		throw new LeadGenError(`Scrape ${excerpt(id)} ${problem}`, advice, { scrapeId: id, ...last });
	};
}

/** Polls the status until the scrape has ended, or time runs out. */
async function lastStatus(
	id: string,
	service: Service,
	intervalMs: number,
	minutes: number,
): Promise<IDataObject> {
	const { account, settings } = service.run;
	const deadline = minutes === 0 ? Infinity : Date.now() + minutes * 60_000;
	// The last request goes out at the deadline, and its answer may take a second.
	const signal = timeoutSignal(deadline + 1000 - Date.now());
	let last: IDataObject | undefined;
	let failure: { error: ServiceError; since: number; refusedSince: number } | undefined;
	account.watched++;
	try {
		for (;;) {
			try {
				last = await service.data({ ...pollRequest(id), signal });
				failure = undefined;
			} catch (error) {
				// One that the deadline cut off says nothing of the service.
				if (!signal.aborted) {
					// If the run is over, what the service said of this scrape tells more.
					if (error instanceof NotAttemptedError && failure) throw withScrape(failure.error, id);
					if (!(error instanceof ServiceError)) throw withScrape(error, id);
					const now = Date.now();
					const { since = now, refusedSince = Infinity } = failure ?? {};
					// One refusal after a silence is no refusal for long.
					const isRefused = error.outcome === 'refused';
					failure = {
						error,
						since,
						refusedSince: isRefused ? Math.min(refusedSince, now) : Infinity,
					};
					const isOver =
						now - since >= MAX_SILENCE_MS || now - failure.refusedSince >= MAX_REFUSED_MS;
					if (isOver) throw withScrape(error, id);
				}
			}
			const isLate = signal.aborted || Date.now() >= deadline;
			// Without any status, the user must know why.
			if (isLate && !last && failure) throw withScrape(failure.error, id);
			if (isLate || (last && endOf(last))) return last ?? {};
			const pauseMs = Math.max(intervalMs, account.pollPauseMs);
			await pause(Math.min(pauseMs, deadline - Date.now()), settings.signal);
		}
	} finally {
		account.watched--;
	}
}

function waitAgain(id: string): string {
	return `The scrape may still be running. To wait longer, use "Wait Until Finished" with the scrape ID ${excerpt(id)}. If you start a new scrape instead, you pay again.`;
}

/** Adds the scrape ID to an error, because the scrape is paid for. */
function withScrape(error: unknown, id: string): unknown {
	if (!(error instanceof LeadGenError)) return error;
	const advice = waitAgain(id);
	if (!(error instanceof NotAttemptedError)) return error.with({ scrapeId: id }, advice);
	// Only the request for the status was not sent. The scrape was started.
	const why = error.message.replace('Not sent: ', '');
	const problem = `The status of scrape ${excerpt(id)} is not known: ${why}`;
	return new LeadGenError(problem, `${error.advice} ${advice}`, { scrapeId: id });
}

export const wait = {
	value: 'wait',
	name: 'Wait Until Finished',
	action: 'Wait for scrape',
	description: 'Wait until a scrape that was started before is finished, and get its final status',
	fields: [scrapeId],
	options: [pollInterval, timeout],
	output: getStatus.output,
	prepare(parameters: Parameters) {
		const waitFor = readWait(parameters);
		const id = parameters.get(scrapeId);
		return {
			request: pollRequest(id),
			run: async (service: Service) => await waitFor(id, service),
		};
	},
} satisfies Operation;
