import type { IDataObject, NodeExecutionHint } from 'n8n-workflow';
import { InputError, LeadGenError, NotAttemptedError, ServiceError } from '../common/errors';
import { wordIn } from '../common/json';
import { count } from '../common/values';
import type { Service } from '../service/service';
import { excerpt } from '../service/texts';
import type { Outcome } from './outputs';

/** Users do not notice a shorter time. */
const WORTH_SAYING_SECONDS = 5;

/** How a call failed, in a word or two. */
const FAILURES = {
	refused: 'refused',
	notSent: 'without a connection',
	unknown: 'without an answer',
};

/** Says in a hint at the end of a run what it brought, what it paid for, and what held it up. */
export function summaryOf(
	service: Service,
	isDryRun: boolean,
	outcomes: Outcome[],
	began: number,
): NodeExecutionHint {
	const words = countEach(outcomes.flatMap((outcome) => wordFor(outcome) ?? []));
	const facts = [
		isDryRun && 'Dry run, nothing was sent',
		[count(outcomes.length, 'item'), words].filter(Boolean).join(': '),
		...(isDryRun ? planned(service, outcomes) : costs(service, (Date.now() - began) / 1000)),
	];
	const type = outcomes.some(({ error }) => error !== undefined) ? 'warning' : 'info';
	return { message: facts.filter((fact) => fact !== false).join(' · '), type };
}

function costs({ purchases, run }: Service, seconds: number) {
	const { total, bought, saved, unclear } = purchases;
	const waited = run.waitedMs / 1000;
	const kinds = [...bought].map(([noun, number]) => count(number, noun)).join(', ');
	return [
		total > 0 ? `${count(total, 'paid call')} (${kinds})` : 'no paid calls',
		unclear > 0 && `${count(unclear, 'call')} without an answer may have been paid for`,
		saved > 0 && `${String(saved)} reused for free`,
		seconds >= WORTH_SAYING_SECONDS && `${seconds.toFixed()} s`,
		waited >= WORTH_SAYING_SECONDS && `${waited.toFixed()} s waiting for the rate limit`,
	];
}

/** What a real run would pay for, and how long it would take. */
function planned({ run }: Service, outcomes: Outcome[]) {
	const plans = outcomes.flatMap(({ result }) => (result ? [result] : []));
	const calls = plans.filter(({ call }) => call === 'new').length;
	const repeated = plans.length - calls;
	const more = plans.reduce((sum, { mayFollow }) => sum + Number(mayFollow), 0);
	const { perMinute } = run.account.limiter;
	const minutes = Math.ceil((calls + more) / perMinute);
	return [
		count(calls, 'paid call'),
		more > 0 && `up to ${String(more)} more, depending on the answers`,
		repeated > 0 && `${String(repeated)} repeated for free`,
		minutes > 0 && `up to ${count(minutes, 'minute')} at ${String(perMinute)} requests per minute`,
	];
}

/** Each word with its number, the most frequent first, such as `317 valid, 98 not found, 4 refused`. */
function countEach(words: string[]): string {
	const counts = new Map<string, number>();
	for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
	const sorted = [...counts].sort(([, a], [, b]) => b - a);
	return sorted.map(([word, number]) => `${String(number)} ${word}`).join(', ');
}

/** What became of an item, in a word or two; undefined for a result without an outcome, such as a balance. */
function wordFor({ error, result = {} }: Outcome): string | undefined {
	if (error instanceof InputError) return 'invalid input';
	if (error instanceof NotAttemptedError) return 'not sent';
	if (error !== undefined)
		return error instanceof ServiceError ? FAILURES[error.outcome] : 'failed';
	const { found, status, rejected } = result;
	if (found === false) {
		const [last] = Array.isArray(rejected) ? (rejected as IDataObject[]).slice(-1) : [];
		return last?.email ? `${inWords(last.outcome)} (rejected)` : 'not found';
	}
	return status === undefined ? (found ? 'found' : undefined) : inWords(status);
}

/** A status as a user reads it. */
function inWords(status: unknown): string {
	return excerpt(wordIn(status) ?? 'unknown').replaceAll('_', '-');
}

/** What the user must know before running a failed node again. @param error may already say a part of it */
export function boughtRemark(service: Service, scrapeIds: string[], error: unknown): string {
	const { total } = service.purchases;
	const started = `started ${count(scrapeIds.length, 'scrape')}: ${scrapeIds.join(', ')}`;
	const bought = scrapeIds.length > 0 ? started : `paid for ${count(total, 'result')}`;
	const { whenRunAgain } = service.run.stopReason;
	const isSaid = error instanceof LeadGenError && error.advice.includes(whenRunAgain);
	return total > 0 ? `This run ${bought}. ${isSaid ? '' : whenRunAgain}` : '';
}
