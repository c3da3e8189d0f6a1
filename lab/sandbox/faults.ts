import { errorAnswer, jsonAnswer, type Answer } from './answers';
import type { RequestRecord } from './requestLog';
import type { FaultMatch, FaultRule } from './settings';

export function isAfterWork({ kind, afterWork }: FaultRule): boolean {
	// These come after the work by their nature.
	const always = ['resetAfterWork', 'resetMidBody', 'hangAfterWork', 'slowBody'].includes(kind);
	return always || afterWork === true;
}

/** The fault rules with their counts; each rule counts the requests that match it. */
export class Faults {
	private readonly counts: Array<{ rule: FaultRule; matched: number; fired: number }>;

	constructor(rules: FaultRule[]) {
		this.counts = rules.map((rule) => ({ rule, matched: 0, fired: 0 }));
	}

	/** Counts the request with every rule it matches, and gives the first that fires. */
	pick(request: RequestRecord): FaultRule | undefined {
		const matching = this.counts.filter(({ rule }) => matches(rule.match ?? {}, request));
		for (const count of matching) count.matched += 1;
		const picked = matching.find(({ rule, matched, fired }) => {
			const { nth, times = Infinity } = rule.match ?? {};
			return (nth?.includes(matched) ?? true) && fired < times;
		});
		if (picked) picked.fired += 1;
		return picked?.rule;
	}
}

function matches(
	{ operation, path, bodyIncludes = '' }: FaultMatch,
	request: RequestRecord,
): boolean {
	return (
		(operation === undefined || operation === request.operation) &&
		(path === undefined || path === request.path) &&
		JSON.stringify(request.body ?? '').includes(bodyIncludes)
	);
}

/** What the client gets to read, if it gets an answer at all; `worked` is the undisturbed answer. */
export function faultyAnswer(rule: FaultRule, worked?: Answer): Answer {
	const answer = bareAnswer(rule, worked);
	return { ...answer, headers: { ...answer.headers, ...rule.headers } };
}

function bareAnswer(rule: FaultRule, worked?: Answer): Answer {
	const { kind, code = 'INTERNAL_ERROR', message = 'Something went wrong' } = rule;
	const { status = 200, location = '/moved' } = rule;
	const textAnswer = (body: string, type = 'application/json', httpStatus = status) => {
		return { status: httpStatus, headers: { 'content-type': type }, body };
	};
	switch (kind) {
		case 'status':
			if (rule.body === undefined) return errorAnswer(code, message, rule.status ?? 500);
			return textAnswer(rule.body, 'text/plain', rule.status ?? 500);
		case 'envelope':
			return errorAnswer(code, message, rule.status);
		case 'html':
			return textAnswer(`<!DOCTYPE html><html>Error ${String(status)}</html>`, 'text/html');
		case 'brokenJson':
			return textAnswer('{"success":true,"data":{"email":"ann');
		case 'emptyBody':
			return textAnswer('');
		case 'redirect':
			return { status: rule.status ?? 302, headers: { location }, body: '' };
		case 'noData':
			return jsonAnswer(status, { success: true });
		default:
			return worked ?? jsonAnswer(status, { success: true });
	}
}
