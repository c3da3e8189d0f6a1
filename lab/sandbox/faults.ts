import { errorAnswer, htmlAnswer, jsonAnswer } from './answers';
import type { Answer } from './answers';
import type { RequestRecord } from './requestLog';
import type { FaultKind, FaultMatch, FaultRule, Settings } from './settings';

/** These come after the work by their nature. */
const AFTER_WORK = new Set<FaultKind>([
	'resetAfterWork',
	'resetMidBody',
	'hangAfterWork',
	'slowBody',
]);

export function isAfterWork(rule: FaultRule): boolean {
	return AFTER_WORK.has(rule.kind) || rule.afterWork === true;
}

/** The fault rules with their counts; each rule counts the requests that match it. */
export class Faults {
	private readonly rules: Array<{ rule: FaultRule; matched: number; fired: number }>;

	constructor(rules: FaultRule[]) {
		this.rules = rules.map((rule) => ({ rule, matched: 0, fired: 0 }));
	}

	/** Counts the request with every rule it matches, and gives the first that fires. */
	pick(request: RequestRecord): FaultRule | undefined {
		let picked: FaultRule | undefined;
		for (const count of this.rules) {
			const { match = {} } = count.rule;
			if (!matches(match, request)) continue;
			count.matched += 1;
			if (picked !== undefined || !isDue(match, count.matched, count.fired)) continue;
			count.fired += 1;
			picked = count.rule;
		}
		return picked;
	}
}

function matches(match: FaultMatch, request: RequestRecord): boolean {
	const { operation, method, path, bodyIncludes } = match;
	return (
		(operation === undefined || operation === request.operation) &&
		(method === undefined || method === request.method) &&
		(path === undefined || path === request.path) &&
		(bodyIncludes === undefined || JSON.stringify(request.body ?? '').includes(bodyIncludes))
	);
}

function isDue({ nth, every, times }: FaultMatch, matched: number, fired: number): boolean {
	return (
		(nth === undefined || nth.includes(matched)) &&
		(every === undefined || matched % every === 0) &&
		(times === undefined || fired < times)
	);
}

/** What the client gets to read, if it gets an answer at all; `worked` is the undisturbed answer. */
export function faultyAnswer(rule: FaultRule, settings: Settings, worked?: Answer): Answer {
	const answer = bareAnswer(rule, settings, worked);
	return { ...answer, headers: { ...answer.headers, ...rule.headers } };
}

function bareAnswer(rule: FaultRule, settings: Settings, worked?: Answer): Answer {
	const { kind, code = 'INTERNAL_ERROR', message = 'Something went wrong' } = rule;
	const status = rule.status ?? 200;
	switch (kind) {
		case 'status':
			return statusAnswer(rule, settings, rule.status ?? 500);
		case 'html':
			return htmlAnswer(status);
		case 'brokenJson':
			return { ...jsonAnswer(status, ''), body: '{"success":true,"data":{"email":"ann' };
		case 'emptyBody':
			return { ...jsonAnswer(status, ''), body: '' };
		case 'noData':
			return jsonAnswer(status, { success: true });
		case 'envelope':
			return errorAnswer(settings, code, message, rule.status);
		case 'redirect': {
			const location = rule.location ?? '/moved';
			return { status: rule.status ?? 302, headers: { location }, body: '' };
		}
		default:
			return worked ?? jsonAnswer(status, { success: true });
	}
}

function statusAnswer(rule: FaultRule, settings: Settings, status: number): Answer {
	const { body = 'envelope', code = 'INTERNAL_ERROR', message = 'Something went wrong' } = rule;
	if (body === 'envelope') return errorAnswer(settings, code, message, status);
	if (body === 'html') return htmlAnswer(status);
	return {
		status,
		headers: { 'content-type': 'text/plain; charset=utf-8' },
		body: body === 'empty' ? '' : body,
	};
}
