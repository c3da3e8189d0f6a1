import type { IDataObject } from 'n8n-workflow';
import { booleanField, numberField, show, type Field, type Parameters } from '../../parameters';
import { pause } from '../../pause';
import { LeadGenError, ServiceError } from '../../service/errors';
import type { Service } from '../../service/service';
import type { Operation } from '../operation';
import { isNotFound, readScrapeId, scrapeId, statusRequest } from './getStatus';

const pollInterval = numberField(
	{
		displayName: 'Poll Interval (Seconds)',
		name: 'pollInterval',
		typeOptions: { minValue: 1 },
		default: 5,
		description: 'How long to pause between two looks at the status',
	},
	// The editor asks for a second at least; an expression may give less.
	{ minimum: 0 },
);

const timeout = numberField(
	{
		displayName: 'Timeout (Minutes)',
		name: 'timeout',
		typeOptions: { minValue: 0 },
		default: 60,
		description:
			'How long to wait at most; 0 waits without an end. The scrape goes on at the service and can be waited for again.',
	},
	{ minimum: 0 },
);

const failedAsResult = booleanField({
	displayName: 'Return Failed Scrapes',
	name: 'failedAsResult',
	default: false,
	description: 'Whether a scrape that failed is a result like any other. Otherwise it is an error.',
});

/** A scrape takes long, so that the service may well be restarted meanwhile. */
const LONGEST_SILENCE_MS = 10 * 60_000;

export const waitOptions: readonly Field[] = [failedAsResult, pollInterval, timeout];

interface WaitSettings {
	intervalMs: number;
	/** 0 waits without an end. */
	minutes: number;
	/** Whether a scrape that failed is a result rather than an error. */
	isFailedResult: boolean;
}

export function readWaitSettings(parameters: Parameters): WaitSettings {
	return {
		intervalMs: parameters.option(pollInterval) * 1000,
		minutes: parameters.option(timeout),
		isFailedResult: parameters.option(failedAsResult),
	};
}

/**
 * Asks for the status until it is `completed` or `failed` (interface 3). Once it is known that there is
 * this scrape, the service may be out of reach for a while, or not find it.
 * @param isKnown whether the service said that there is this scrape
 * @returns the fields of the last status
 * @throws LeadGenError with the last status as details, if the scrape failed or time ran out
 */
export async function waitForScrape(
	id: string,
	{ intervalMs, minutes, isFailedResult }: WaitSettings,
	service: Service,
	signal: AbortSignal | undefined,
	isKnown = false,
): Promise<IDataObject> {
	const deadline = minutes === 0 ? Infinity : Date.now() + minutes * 60_000;
	let last: IDataObject = {};
	let silentSince: number | undefined;
	for (;;) {
		try {
			last = await service.data({ ...statusRequest(id), kind: 'poll' });
			isKnown = true;
			silentSince = undefined;
		} catch (error) {
			silentSince ??= Date.now();
			const isOver = Date.now() >= Math.min(deadline, silentSince + LONGEST_SILENCE_MS);
			if (!isKnown || isOver || !mayPass(error)) throw withScrape(error, id);
		}
		if (last.status === 'completed') return last;
		if (last.status === 'failed') {
			if (isFailedResult) return last;
			throw new LeadGenError(
				`Scrape ${id} failed`,
				'What the service says of it is in the details of the error, or under "error" if On Error is set to Continue. Start a new scrape if you still want the leads.',
				last,
			);
		}
		const left = deadline - Date.now();
		if (left <= 0) {
			throw new LeadGenError(
				`Scrape ${id} did not finish within ${String(minutes)} minutes`,
				`Its status is ${show(last.status)}, its progress ${show(last.progress)}. It goes on at the service: run "Wait Until Finished" with this scrape ID to go on waiting, rather than start it again.`,
				last,
			);
		}
		await pause(Math.min(intervalMs, left), signal);
	}
}

function mayPass(error: unknown): boolean {
	if (!(error instanceof ServiceError)) return false;
	return error.outcome !== 'refused' || isNotFound(error);
}

/** Whatever breaks the wait, the scrape is paid for and its identifier must not get lost. */
function withScrape(error: unknown, id: string): unknown {
	if (!(error instanceof LeadGenError)) return error;
	const advice = `The scrape ${id} goes on: use "Wait Until Finished" with this scrape ID.`;
	return error.with({ scrapeId: id }, advice);
}

export const wait: Operation = {
	value: 'wait',
	name: 'Wait Until Finished',
	action: 'Wait for a scrape',
	description: 'Wait until a scrape that was started before is completed, and get its final status',
	fields: [scrapeId],
	options: waitOptions,
	async run(parameters, service, signal) {
		const settings = readWaitSettings(parameters);
		return await waitForScrape(readScrapeId(parameters), settings, service, signal);
	},
};
