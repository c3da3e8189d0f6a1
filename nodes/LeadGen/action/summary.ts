import type { IDataObject } from 'n8n-workflow';
import { InputError, LeadGenError, NotAttemptedError, ServiceError } from '../common/errors';
import { numberIn, wordIn } from '../common/json';
import { count } from '../common/values';
import type { Service } from '../service/service';
import { beginning, excerpt } from '../service/texts';
import type { DryRun } from './dryRun';
import type { Outcome } from './outputs';

/** Users do not notice a shorter wait. */
const WORTH_SAYING_MS = 5000;

/** A service may give each item a status of its own, of any length. */
const MAX_OUTCOMES = 10;
const MAX_WORD = 50;

/** Says in a hint at the end of a run what it brought, what it paid for, and what held it up. */
export function summaryOf(
	services: Service[],
	outcomes: Outcome[],
	totals: DryRun['totals'],
	began: number,
): { message: string; type: 'warning' | 'info' } {
	const isDryRun = outcomes.some(({ isPlanned }) => isPlanned);
	const failed = outcomes.filter(({ result, isPlanned }) => !result && !isPlanned).length;
	const facts = isDryRun
		? dryFacts(services, totals, outcomes.length, failed)
		: [
				[count(outcomes.length, 'item'), outcomesInWords(outcomes)].filter(Boolean).join(': '),
				...costs(services, began),
			];
	const message = facts.filter((fact) => typeof fact === 'string').join(isDryRun ? ' ' : ' · ');
	return { message, type: failed > 0 ? 'warning' : 'info' };
}

type Facts = Array<string | false | undefined>;

function costs(services: Service[], began: number): Facts {
	const purchases = services.map((service) => service.purchases);
	const [paid, saved, unclear] = [
		sum(purchases.map(({ total }) => total)),
		sum(purchases.map((each) => each.saved)),
		sum(purchases.map((each) => each.unclear)),
	];
	const ms = Date.now() - began;
	const waitedMs = Math.max(...services.map(({ run }) => run.waitedMs));
	const nouns = new Set(purchases.flatMap(({ bought }) => [...bought.keys()]));
	const kinds = [...nouns]
		.map((noun) => count(sum(purchases.map(({ bought }) => bought.get(noun) ?? 0)), noun))
		.join(', ');
	const heldUp =
		waitedMs >= WORTH_SAYING_MS ? `, ${seconds(waitedMs)} waiting for the rate limit` : '';
	const [balance] = services.length === 1 ? services.map(({ run }) => run.account.balance) : [];
	return [
		services.length > 1 && count(services.length, 'account'),
		paid > 0 ? `${count(paid, 'paid call')} (${kinds})` : 'no paid calls',
		unclear > 0 && `${count(unclear, 'call')} without an answer may have been paid for`,
		saved > 0 && `${String(saved)} reused for free`,
		ms >= WORTH_SAYING_MS && `${seconds(ms)}${heldUp}`,
		balance && balance.at >= began && `balance ${count(balance.credits, 'credit')} when last read`,
	];
}

/** What a real run would pay for. */
function dryFacts(
	services: Service[],
	totals: DryRun['totals'],
	items: number,
	failed: number,
): Facts {
	const { new: paid, duplicate, remembered, mayFollow } = totals;
	const known = duplicate + remembered;
	// How the calls are divided among several accounts is not known.
	const perMinute = Math.min(...services.map(({ run }) => run.account.limiter.perMinute));
	const minutes = Math.floor(Math.max(0, paid + mayFollow - 1) / perMinute);
	return [
		`Dry run: nothing was sent. ${count(items, 'item')}, ${count(paid, 'paid call')}.`,
		mayFollow > 0 && `Depending on the answers, up to ${count(mayFollow, 'paid call')} may follow.`,
		known > 0 && `${count(known, 'repeated call')} ${known === 1 ? 'costs' : 'cost'} nothing.`,
		failed > 0 && `${count(failed, 'item')} failed.`,
		perMinute < Infinity &&
			paid + mayFollow > 0 &&
			`With ${String(perMinute)} requests per minute, this takes ${minutes === 0 ? 'less than a minute' : `up to ${count(minutes, 'minute')} and the time of the answers`}.`,
	];
}

/** How many items had each outcome, the most frequent first, such as `317 valid, 98 not found, 4 refused`. */
function outcomesInWords(outcomes: Outcome[]): string {
	const results = countEach(outcomes.map(({ result }) => result && outcomeOf(result)));
	const failures = countEach(outcomes.map((each) => (each.error ? failureOf(each) : undefined)));
	const others = sum(results.slice(MAX_OUTCOMES).map(([, number]) => number));
	const scrapes = outcomes.map(({ result, error }) =>
		error instanceof LeadGenError ? error.details : (result ?? {}),
	);
	const used = (field: string) => sum(scrapes.map((each) => numberIn(each[field]) ?? 0));
	const [leads, credits] = [used('leadsFound'), used('creditsUsed')];
	const inWords = (counts: Array<[string, number]>) =>
		counts.filter(([, number]) => number > 0).map(([word, number]) => `${String(number)} ${word}`);
	return [
		...inWords([...results.slice(0, MAX_OUTCOMES), [others === 1 ? 'other' : 'others', others]]),
		...(leads > 0 ? [count(leads, 'lead')] : []),
		...(credits > 0 ? [count(credits, 'credit')] : []),
		...inWords(failures),
	].join(', ');
}

function countEach(words: Array<string | undefined>): Array<[string, number]> {
	const counts = new Map<string, number>();
	for (const each of words) {
		if (each !== undefined) counts.set(each, (counts.get(each) ?? 0) + 1);
	}
	return [...counts].sort(([, a], [, b]) => b - a);
}

/** The outcome of an item in a word or two; undefined for a result without one, such as a balance. */
function outcomeOf({ found, status, rejected }: IDataObject): string | undefined {
	if (found === false) {
		const [last] = Array.isArray(rejected) ? (rejected as IDataObject[]).slice(-1) : [];
		return last?.email ? `${word(last.outcome)} (rejected)` : 'not found';
	}
	// Not the item: this result was wanted.
	if (wordIn(status) === 'failed') return 'scrape failed';
	return status === undefined ? (found ? 'found' : undefined) : word(status);
}

/** Why an item failed, in a word or two. */
function failureOf({ error, paidCalls = 0 }: Outcome): string {
	if (error instanceof InputError) return 'invalid input';
	if (error instanceof NotAttemptedError) return paidCalls > 0 ? 'not completed' : 'not sent';
	if (!(error instanceof ServiceError)) return 'failed';
	const { outcome } = error;
	return { refused: 'refused', notSent: 'without a connection', unknown: 'without an answer' }[
		outcome
	];
}

function word(value: unknown): string {
	return excerpt(beginning(wordIn(value) ?? 'unknown', MAX_WORD)).replaceAll('_', '-');
}

function seconds(ms: number): string {
	return `${String(Math.round(ms / 1000))} s`;
}

/**
 * What the user must know before running a failed node again.
 * @param error may already contain a part of it
 */
export function boughtRemark(services: Service[], error: unknown): string {
	const total = sum(services.map(({ purchases }) => purchases.total));
	const [first] = services;
	if (!first || total === 0) return '';
	const { whenRunAgain } = first.run.stopReason;
	const isSaid = error instanceof LeadGenError && error.advice.includes(whenRunAgain);
	return `This run paid for ${count(total, 'result')}. ${isSaid ? '' : whenRunAgain}`;
}

function sum(numbers: number[]): number {
	return numbers.reduce((all, number) => all + number, 0);
}
