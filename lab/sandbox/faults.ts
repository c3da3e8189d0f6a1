import { errorAnswer, htmlAnswer, jsonAnswer, type Answer } from './answers';
import type { RequestRecord } from './requestLog';
import type { FaultKind, FaultMatch, FaultRule } from './settings';

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

function isDue({ nth, times }: FaultMatch, matched: number, fired: number): boolean {
	return (nth === undefined || nth.includes(matched)) && (times === undefined || fired < times);
}

/** What the client gets to read, if it gets an answer at all; `worked` is the undisturbed answer. */
export function faultyAnswer(rule: FaultRule, worked?: Answer): Answer {
	const answer = bareAnswer(rule, worked);
	return { ...answer, headers: { ...answer.headers, ...rule.headers } };
}

function bareAnswer(rule: FaultRule, worked?: Answer): Answer {
	const { kind, body, code = 'INTERNAL_ERROR', message = 'Something went wrong' } = rule;
	const status = rule.status ?? 200;
	switch (kind) {
		case 'status':
			return body === undefined
				? errorAnswer(code, message, rule.status ?? 500)
				: textAnswer(rule.status ?? 500, body);
		case 'html':
			return htmlAnswer(status);
		case 'brokenJson':
			return { ...jsonAnswer(status, ''), body: '{"success":true,"data":{"email":"ann' };
		case 'emptyBody':
			return { ...jsonAnswer(status, ''), body: '' };
		case 'noData':
			return jsonAnswer(status, { success: true });
		case 'envelope':
			return errorAnswer(code, message, rule.status);
		case 'redirect': {
			const location = rule.location ?? '/moved';
			return { status: rule.status ?? 302, headers: { location }, body: '' };
		}
		default:
			return worked ?? jsonAnswer(status, { success: true });
	}
}

function textAnswer(status: number, text: string): Answer {
	const body = text === 'empty' ? '' : text;
	return { status, headers: { 'content-type': 'text/plain; charset=utf-8' }, body };
}
