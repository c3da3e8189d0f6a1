/** What a run says of itself: its hints, what it started and paid for, and what an error must tell before a new try. */
import type { IDataObject, IExecuteFunctions, NodeExecutionHint } from 'n8n-workflow';
import { addToExecution, saveWithExecution } from '../common/compatibility';
import { InputError, LeadGenError, NotAttemptedError, ServiceError } from '../common/errors';
import { isText, wordIn } from '../common/json';
import { count, show } from '../common/values';
import { excerpt, isUnclear, type Answer } from '../service/answer';
import type { ServiceRequest } from '../service/request';
import type { NodeRun } from '../service/run';
import type { RunOptions } from './options';
import type { ItemOutcome } from './output';

/** Users do not notice a shorter time. */
const WORTH_SAYING_SECONDS = 5;

/** How a call failed, in a word or two. */
const FAILURES = {
	refused: 'refused',
	notSent: 'without a connection',
	unknown: 'without an answer',
};

/** The hints at the end of a run: what it brought, what it paid for, what held it up, and what the service asks for. */
export function hintsOf(
	{ run, options }: { run: NodeRun; options: RunOptions },
	outcomes: ItemOutcome[],
	began: number,
): NodeExecutionHint[] {
	const { isDryRun } = options;
	const words = countEach(outcomes.flatMap((outcome) => wordFor(outcome) ?? []));
	const facts = [
		isDryRun && 'Dry run, nothing was sent',
		[count(outcomes.length, 'item'), words].filter(Boolean).join(': '),
		...(isDryRun ? planned(run, options, outcomes) : costs(run, (Date.now() - began) / 1000)),
	];
	const type = outcomes.some(({ error }) => error !== undefined) ? 'warning' : 'info';
	const summary = { message: facts.filter((fact) => fact !== false).join(' · '), type } as const;
	return [summary, ...missingHints(outcomes, run.needless)];
}

function costs({ total, bought, reused, unclear, waitedMs }: NodeRun, seconds: number) {
	const waited = waitedMs / 1000;
	const kinds = [...bought].map(([noun, number]) => count(number, noun)).join(', ');
	return [
		total > 0 ? `${count(total, 'paid call')} (${kinds})` : 'no paid calls',
		unclear > 0 && `${count(unclear, 'call')} without an answer may have been paid for`,
		reused > 0 && `${String(reused)} reused for free`,
		seconds >= WORTH_SAYING_SECONDS && `${seconds.toFixed()} s`,
		waited >= WORTH_SAYING_SECONDS && `${waited.toFixed()} s waiting for the rate limit`,
	];
}

/** What a real run would pay for, and how long it would take. */
function planned({ account }: NodeRun, { maxPaidCalls }: RunOptions, outcomes: ItemOutcome[]) {
	const plans = outcomes.flatMap(({ result }) => (result ? [result] : []));
	const fresh = plans.filter(({ call }) => call === 'new');
	const calls = Math.min(fresh.length, maxPaidCalls);
	const repeated = plans.length - fresh.length;
	const mayFollow = fresh.reduce((sum, plan) => sum + Number(plan.mayFollow), 0);
	const more = Math.min(mayFollow, maxPaidCalls - calls);
	const perMinute = account.limiter.perMinuteTo(plans.map(({ path }) => path).find(isText) ?? '');
	const minutes = Math.ceil((calls + more) / perMinute);
	return [
		count(calls, 'paid call'),
		more > 0 && `up to ${String(more)} more, depending on the answers`,
		repeated > 0 && `${String(repeated)} repeated for free`,
		minutes > 0 && `up to ${count(minutes, 'minute')} at ${String(perMinute)} requests per minute`,
	];
}

/** Says once for a run which fields the service seems to need. @param needless those that it did not need */
function missingHints(outcomes: ItemOutcome[], needless: Set<string>): NodeExecutionHint[] {
	const refusals = outcomes.flatMap(({ error }) => {
		const { missing = [] } = error instanceof LeadGenError ? error.details : {};
		const needed = (missing as string[]).filter((name) => !needless.has(name));
		return needed.length > 0 ? [needed] : [];
	});
	if (refusals.length === 0) return [];
	const names = [...new Set(refusals.flat())].join(', ');
	const message = `The service refused ${count(refusals.length, 'request')} without all fields. It may need: ${names}.`;
	return [{ message, type: 'warning' }];
}

/** Each word with its number, the most frequent first, such as `317 valid, 98 not found, 4 refused`. */
function countEach(words: string[]): string {
	const counts = new Map<string, number>();
	for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
	const sorted = [...counts].sort(([, a], [, b]) => b - a);
	return sorted.map(([word, number]) => `${String(number)} ${word}`).join(', ');
}

/** What became of an item, in a word or two; undefined for a result without an outcome, such as a balance. */
function wordFor({ error, result = {} }: ItemOutcome): string | undefined {
	if (error instanceof InputError) return 'invalid input';
	if (error instanceof NotAttemptedError) return 'not sent';
	if (error !== undefined)
		return error instanceof ServiceError ? FAILURES[error.outcome] : 'failed';
	const { found, status, rejected } = result;
	if (found === false) {
		const [last] = Array.isArray(rejected) ? (rejected as IDataObject[]).slice(-1) : [];
		return last?.email ? `${statusWords(last.outcome)} (rejected)` : 'not found';
	}
	return status === undefined ? (found ? 'found' : undefined) : statusWords(status);
}

/** A status as a user reads it. */
function statusWords(status: unknown): string {
	return excerpt(wordIn(status) ?? 'unknown').replaceAll('_', '-');
}

/** Saves with the execution how many calls were paid for, or may have been, in all runs of a loop. */
export function saveTotals(context: IExecuteFunctions, { total, unclear }: NodeRun): void {
	if (total + unclear > 0) addToExecution(context, 'paid_calls', total + unclear);
}

/**
 * Logs a start and saves it with the execution at once, because a run that n8n stops returns nothing.
 * @param answer an error if the scrape may have been started
 */
export function reportStart(
	context: IExecuteFunctions,
	run: NodeRun,
	{ place = '' }: ServiceRequest,
	answer: Answer,
): void {
	const isStarted = 'data' in answer;
	if (isStarted)
		saveWithExecution(context, 'scrapes_started', idsIn([...startsOf(run), answer]).join(' '));
	// A tool has no place, and its calls have no items.
	const item = place === '' ? '' : ` for item ${place.replace(/.* /, '')}`;
	const started = isStarted
		? `started scrape ${idOf(answer)}`
		: 'the service may have started a scrape';
	const line = `${context.getNode().name}: ${started}${item} in execution ${context.getExecutionId()}`;
	context.logger[isStarted ? 'info' : 'warn'](line);
}

/** The answers to the starts of an execution. They are paid for, so their IDs must not get lost. */
function startsOf({ account, buyer }: NodeRun): Answer[] {
	return account.memory.answersOf(buyer, '/start ');
}

function idsIn(starts: Answer[]): string[] {
	return starts.flatMap((answer) => ('data' in answer ? idOf(answer) : []));
}

function idOf({ data }: { data: IDataObject | null }): string {
	const { scrapeId, ...others } = data ?? {};
	if (typeof scrapeId === 'string' && scrapeId !== '') return excerpt(scrapeId);
	const other = show(scrapeId ?? others);
	return /\w/.test(other) ? excerpt(other) : 'without an ID';
}

/** What the user must know before running a failed node again. @param error may already say a part of it */
export function remarkOn(error: unknown, run: NodeRun, outcomes: ItemOutcome[]): string {
	const { total, unclear, whenRunAgain } = run;
	const starts = startsOf(run);
	const [ids, lost] = [idsIn(starts), starts.filter(isUnclear).length];
	const said = [
		ids.length > 0 && `This execution started ${count(ids.length, 'scrape')}: ${ids.join(', ')}.`,
		lost > 0 && `${count(lost, 'start')} without an answer may have started a scrape.`,
		total > 0 && ids.length === 0 && `This run paid for ${count(total, 'result')}.`,
		// The error tells of one of them.
		unclear > 1 &&
			lost === 0 &&
			`${count(unclear, 'call')} without an answer may have been paid for.`,
	].filter((text) => text !== false);
	const isSaid = error instanceof LeadGenError && error.advice.includes(whenRunAgain);
	if (said.length > 0 && !isSaid) said.push(whenRunAgain);
	return [...(error instanceof InputError ? [invalidItems(outcomes)] : []), ...said].join(' ');
}

/** How many items an error names. */
const MAX_NAMED = 10;

function invalidItems(outcomes: ItemOutcome[]): string {
	const invalid = outcomes.flatMap(({ error }, index) =>
		error instanceof InputError ? index : [],
	);
	const more = invalid.length > MAX_NAMED ? ' and others' : '';
	return `The input of ${String(invalid.length)} of ${String(outcomes.length)} items is invalid: item ${invalid.slice(0, MAX_NAMED).join(', ')}${more}. To get the results of the other items, set Settings > On Error to Continue.`;
}
