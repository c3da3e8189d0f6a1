import type { IDataObject } from 'n8n-workflow';
import { InputError, LeadGenError, NotAttemptedError, ServiceError } from '../common/errors';
import { numberIn, wordIn } from '../common/json';
import { count } from '../common/values';
import type { Service } from '../service/service';
import { endOf } from '../service/scrapeStatus';
import { excerpt } from '../service/texts';
import type { DryRun } from './dryRun';
import type { Outcome } from './outputs';

/** Users do not notice a shorter wait. */
const WORTH_SAYING_MS = 5000;

type Facts = Array<string | false>;

/** Says in a hint at the end of a run what it brought, what it paid for, and what held it up. */
export function summaryOf(
	{ service, dryRun }: { service: Service; dryRun: DryRun | undefined },
	outcomes: Outcome[],
	began: number,
): { message: string; type: 'warning' | 'info' } {
	const items = count(outcomes.length, 'item');
	const failed = outcomes.filter(({ error }) => error !== undefined).length;
	const words = outcomesInWords(outcomes);
	const facts: Facts = dryRun
		? [
				`Dry run: nothing was sent. ${items}, ${count(dryRun.totals.new, 'paid call')}.`,
				...planned(dryRun, service),
				failed > 0 && `${count(failed, 'item')} failed.`,
			]
		: [words ? `${items}: ${words}` : items, ...costs(service, Date.now() - began)];
	const message = facts.filter((fact) => fact !== false).join(dryRun ? ' ' : ' · ');
	return { message, type: failed > 0 ? 'warning' : 'info' };
}

function costs({ purchases, run: { waitedMs } }: Service, ms: number): Facts {
	const { total, bought, saved, unclear } = purchases;
	const kinds = [...bought].map(([noun, number]) => count(number, noun)).join(', ');
	const heldUp =
		waitedMs >= WORTH_SAYING_MS ? `, ${seconds(waitedMs)} waiting for the rate limit` : '';
	return [
		total > 0 ? `${count(total, 'paid call')} (${kinds})` : 'no paid calls',
		unclear > 0 && `${count(unclear, 'call')} without an answer may have been paid for`,
		saved > 0 && `${String(saved)} reused for free`,
		ms >= WORTH_SAYING_MS && `${seconds(ms)}${heldUp}`,
	];
}

/** What a real run would pay for beside its new calls, and how long it would take. */
function planned({ totals }: DryRun, { run }: Service): Facts {
	const { new: paid, duplicate, remembered, mayFollow } = totals;
	const known = duplicate + remembered;
	const { perMinute } = run.account.limiter;
	const minutes = Math.ceil((paid + mayFollow) / perMinute);
	return [
		mayFollow > 0 && `Depending on the answers, up to ${count(mayFollow, 'paid call')} may follow.`,
		known > 0 && `${count(known, 'repeated call')} ${known === 1 ? 'costs' : 'cost'} nothing.`,
		minutes > 0 &&
			perMinute < Infinity &&
			`With ${String(perMinute)} requests per minute, this takes up to ${count(minutes, 'minute')}.`,
	];
}

/** How many items had each outcome, the most frequent first, such as `317 valid, 98 not found, 4 refused`. */
function outcomesInWords(outcomes: Outcome[]): string {
	const scrapes = outcomes.map(({ result, error }) =>
		error instanceof LeadGenError ? error.details : result,
	);
	const sumOf = (field: string) =>
		scrapes.reduce((sum, scrape) => sum + (numberIn(scrape?.[field]) ?? 0), 0);
	const [leads, credits] = [sumOf('leadsFound'), sumOf('creditsUsed')];
	return [
		...countEach(outcomes.map(({ result }) => result && outcomeOf(result))),
		...(leads > 0 ? [count(leads, 'lead')] : []),
		...(credits > 0 ? [count(credits, 'credit')] : []),
		...countEach(outcomes.map(failureOf)),
	].join(', ');
}

/** Each word with its number, the most frequent first. */
function countEach(words: Array<string | undefined>): string[] {
	const counts = new Map<string, number>();
	for (const word of words) {
		if (word !== undefined) counts.set(word, (counts.get(word) ?? 0) + 1);
	}
	const sorted = [...counts].sort(([, a], [, b]) => b - a);
	return sorted.map(([word, number]) => `${String(number)} ${word}`);
}

/** The outcome of an item in a word or two; undefined for a result without one, such as a balance. */
function outcomeOf({ found, status, rejected }: IDataObject): string | undefined {
	if (found === false) {
		const [last] = Array.isArray(rejected) ? (rejected as IDataObject[]).slice(-1) : [];
		return last?.email ? `${inWords(last.outcome)} (rejected)` : 'not found';
	}
	// Not the item: this result was wanted.
	if (endOf({ status }) === 'failed') return 'scrape failed';
	return status === undefined ? (found ? 'found' : undefined) : inWords(status);
}

/** Why an item failed, in a word or two. */
function failureOf({ error }: Outcome): string | undefined {
	if (error === undefined) return undefined;
	if (error instanceof InputError) return 'invalid input';
	if (error instanceof NotAttemptedError) return 'not sent';
	if (!(error instanceof ServiceError)) return 'failed';
	const words = {
		refused: 'refused',
		notSent: 'without a connection',
		unknown: 'without an answer',
	};
	return words[error.outcome];
}

/** A status as a user reads it. */
function inWords(status: unknown): string {
	return excerpt(wordIn(status) ?? 'unknown').replaceAll('_', '-');
}

function seconds(ms: number): string {
	return `${String(Math.round(ms / 1000))} s`;
}

/**
 * What the user must know before running a failed node again.
 * @param error may already contain a part of it
 */
export function boughtRemark(service: Service | undefined, error: unknown): string {
	const total = service?.purchases.total ?? 0;
	if (!service || total === 0) return '';
	const { whenRunAgain } = service.run.stopReason;
	const isSaid = error instanceof LeadGenError && error.advice.includes(whenRunAgain);
	return `This run paid for ${count(total, 'result')}. ${isSaid ? '' : whenRunAgain}`;
}
