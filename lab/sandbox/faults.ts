import { errorAnswer, jsonAnswer, type Answer } from './answers';
import type { RequestRecord } from './requestLog';
import type { FaultKind, FaultMatch, FaultRule } from './settings';

/** These come after the work by their nature. */
const AFTER_WORK: FaultKind[] = ['resetAfterWork', 'resetMidBody', 'hangAfterWork', 'slowBody'];

export function isAfterWork(rule: FaultRule): boolean {
	return AFTER_WORK.includes(rule.kind) || rule.afterWork === true;
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
	const { operation, method, path, bodyIncludes = '' } = match;
	return (
		(operation === undefined || operation === request.operation) &&
		(method === undefined || method === request.method) &&
		(path === undefined || path === request.path) &&
		JSON.stringify(request.body ?? '').includes(bodyIncludes)
	);
}

function isDue({ nth, times = Infinity }: FaultMatch, matched: number, fired: number): boolean {
	return (nth === undefined || nth.includes(matched)) && fired < times;
}

/** What the client gets to read, if it gets an answer at all; `worked` is the undisturbed answer. */
export function faultyAnswer(rule: FaultRule, worked?: Answer): Answer {
	const answer = bareAnswer(rule, worked);
	return { ...answer, headers: { ...answer.headers, ...rule.headers } };
}

function bareAnswer(rule: FaultRule, worked?: Answer): Answer {
	const { kind, body, code = 'INTERNAL_ERROR', message = 'Something went wrong' } = rule;
	const { status = 200, location = '/moved' } = rule;
	switch (kind) {
		case 'status':
			if (body === undefined) return errorAnswer(code, message, rule.status ?? 500);
			return { status: rule.status ?? 500, headers: { 'content-type': 'text/plain' }, body };
		case 'html': {
			const page = `<!DOCTYPE html><html><head><title>Error ${String(status)}</title></head></html>`;
			return { status, headers: { 'content-type': 'text/html; charset=utf-8' }, body: page };
		}
		case 'brokenJson':
			return { ...jsonAnswer(status, ''), body: '{"success":true,"data":{"email":"ann' };
		case 'emptyBody':
			return { ...jsonAnswer(status, ''), body: '' };
		case 'envelope':
			return errorAnswer(code, message, rule.status);
		case 'redirect':
			return { status: rule.status ?? 302, headers: { location }, body: '' };
		case 'noData':
			return jsonAnswer(status, { success: true });
		default:
			return worked ?? jsonAnswer(status, { success: true });
	}
}
