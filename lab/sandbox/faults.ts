import { errorAnswer, type Answer } from './answers';
import type { RequestRecord } from './requestLog';
import type { FaultMatch, FaultRule } from './settings';

/** Whether the work is done, and charged, although it goes wrong. */
export function isAfterWork({ kind }: FaultRule): boolean {
	return kind === 'resetAfterWork' || kind === 'late';
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

function matches({ path, bodyIncludes = '' }: FaultMatch, request: RequestRecord): boolean {
	const isPath = path === undefined || path === request.path;
	return isPath && JSON.stringify([request.body, request.query]).includes(bodyIncludes);
}

/** What the client gets to read in place of an answer. */
export function faultyAnswer(rule: FaultRule): Answer {
	const { kind, code = 'INTERNAL_ERROR', message = 'Something went wrong', headers } = rule;
	if (kind === 'html') {
		const { status = 200 } = rule;
		const body = `<!DOCTYPE html><html>Error ${String(status)}</html>`;
		return { status, headers: { 'content-type': 'text/html', ...headers }, body };
	}
	const answer = errorAnswer(code, message, rule.status ?? (kind === 'status' ? 500 : undefined));
	return { ...answer, body: rule.body ?? answer.body, headers: { ...answer.headers, ...headers } };
}
