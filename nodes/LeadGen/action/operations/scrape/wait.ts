import type { IDataObject } from 'n8n-workflow';
import { count } from '../../../common/values';
import { isObject, isText } from '../../../common/json';
import { booleanField, numberField, type Field, type Parameters } from '../../../common/parameters';
import { pause, timeoutSignal } from '../../../common/pause';
import { LeadGenError, NotAttemptedError } from '../../../common/errors';
import { mayPollAgain } from '../../../service/retry';
import { endOf, isFinished, pollRequest } from '../../../service/scrapeStatus';
import type { ItemService } from '../../../service/itemService';
import { excerpt } from '../../../service/texts';
import type { Operation } from '../operation';
import { getStatus, scrapeId } from './getStatus';

const pollInterval = numberField(
	{
		displayName: 'Poll Interval (Seconds)',
		name: 'pollInterval',
		typeOptions: { minValue: 1 },
		default: 5,
		description: 'How long to wait before asking for the status again',
	},
	// The editor requires at least one second, but an expression may return less.
	{ minimum: 0 },
);

const timeout = numberField({
	displayName: 'Timeout (Minutes)',
	name: 'timeout',
	typeOptions: { minValue: 0 },
	default: 60,
	description: 'How long to wait at most. The scrape keeps running after that. 0 sets no limit.',
});

const failedAsResult = booleanField({
	displayName: 'Return Failed Scrapes',
	name: 'failedAsResult',
	description: 'Whether a failed scrape is a result instead of an error',
});

/** How long the service may be unreachable. A scrape takes long, and the service may be restarted meanwhile. */
const MAX_SILENCE_MS = 10 * 60_000;
/** The same before its first status: the scrape may be very new, but also the ID or the address mistyped. */
const MAX_FIRST_SILENCE_MS = 10_000;

/** The last request goes out at the end of the wait. How long its answer is waited for. */
const LATE_MS = 1000;

export const waitOptions: readonly Field[] = [failedAsResult, pollInterval, timeout];

export function readWaitSettings(parameters: Parameters) {
	return {
		intervalMs: parameters.option(pollInterval) * 1000,
		/** 0 sets no limit. */
		minutes: parameters.option(timeout),
		isFailedResult: parameters.option(failedAsResult),
	};
}

/**
 * Polls the status until the scrape is finished. Meanwhile the service may be unreachable for a while, or may not find the
 * scrape.
 * @param isKnown whether the service said that the scrape exists
 * @returns the fields of the last status
 * @throws LeadGenError with the last status as details, if the scrape failed or time ran out
 */
export async function waitForScrape(
	id: string,
	{ intervalMs, minutes, isFailedResult }: ReturnType<typeof readWaitSettings>,
	service: ItemService,
	isKnown = false,
): Promise<IDataObject> {
	const { account, settings } = service.run;
	const deadline = minutes === 0 ? Infinity : Date.now() + minutes * 60_000;
	// The service may answer much later, or never.
	const late = timeoutSignal(deadline + LATE_MS - Date.now());
	let last: IDataObject = {};
	let silentSince: number | undefined;
	account.watched++;
	try {
		for (;;) {
			try {
				last = await service.data({ ...pollRequest(id), signal: late });
				isKnown = true;
				silentSince = undefined;
			} catch (error) {
				if (late.aborted) break;
				silentSince ??= Date.now();
				const maxMs = isKnown ? MAX_SILENCE_MS : MAX_FIRST_SILENCE_MS;
				const isOver = Date.now() >= Math.min(deadline, silentSince + maxMs);
				if (isOver || !mayPollAgain(error)) throw withScrape(error, id);
			}
			if (isFinished(last) || Date.now() >= deadline) break;
			const pauseMs = Math.max(intervalMs, account.pollPauseMs);
			await pause(Math.min(pauseMs, deadline - Date.now()), settings.signal);
		}
	} finally {
		account.watched--;
	}
	if (!isFinished(last)) throw tooLong(id, last, minutes);
	if (endOf(last) === 'failed' && !isFailedResult) throw failed(id, last);
	return last;
}

function failed(id: string, last: IDataObject): LeadGenError {
	const { message, error } = last;
	const said = [message, error, isObject(error) && error.message].find(isText);
	return new LeadGenError(
		`Scrape ${excerpt(id)} failed${said === undefined ? '' : `: ${excerpt(said)}`}`,
		'To get leads, start a new scrape.',
		{ scrapeId: id, ...last },
	);
}

function tooLong(id: string, last: IDataObject, minutes: number): LeadGenError {
	return new LeadGenError(
		`Scrape ${excerpt(id)} did not finish within ${count(minutes, 'minute')}`,
		`${waitAgain(id)} If you start a new scrape instead, you pay again.`,
		{ scrapeId: id, ...last },
	);
}

function waitAgain(id: string): string {
	return `The scrape may still be running. To wait longer, use "Wait Until Finished" with the scrape ID ${excerpt(id)}.`;
}

/** Adds the scrape ID to an error. Whatever ends the wait, the scrape is paid for and its ID must not get lost. */
function withScrape(error: unknown, id: string): unknown {
	if (!(error instanceof LeadGenError)) return error;
	const told = error.with({ scrapeId: id }, waitAgain(id));
	// Only the status request was not attempted. The scrape was started.
	if (error instanceof NotAttemptedError) {
		delete told.details.attempted;
		delete told.details.outcome;
	}
	return told;
}

export const wait: Operation = {
	value: 'wait',
	name: 'Wait Until Finished',
	action: 'Wait for scrape',
	description: 'Wait until a scrape that was started before is finished, and get its final status',
	fields: [scrapeId],
	options: waitOptions,
	output: getStatus.output,
	prepare(parameters) {
		const settings = readWaitSettings(parameters);
		const id = parameters.get(scrapeId);
		return {
			request: pollRequest(id),
			run: async (service) => await waitForScrape(id, settings, service),
		};
	},
};
