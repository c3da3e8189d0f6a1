import { NotReachedError } from '../nodes/LeadGen/trigger/notices';
import * as saving from '../nodes/LeadGen/trigger/running';

const { changed, leadsThatRan, merged, NOTHING, readSaved, scrapeOf, writeSaved } = saving;

/** What is saved: the attempts of running scrapes, the scrapes that ran as `scrape=leads`, and the activation. */
function saved(running: string, done: string, activation?: string): saving.Saved {
	const words = (text: string) => text.split(' ').filter((word) => word !== '');
	return {
		...(activation !== undefined && { activation }),
		running: words(running).map((attempt) => ({ attempt, scrapeId: `of ${attempt}`, since: 1 })),
		done: words(done).map((word) => {
			const [scrape = '', leads = ''] = word.split('=');
			return [scrape, leads.replaceAll('+', ' '), `id of ${scrape}`];
		}),
	};
}

describe('what is saved', () => {
	const known = saved('a1', 'a0=x b', 'a1');

	test('is read as it was written, and written only if it changed', () => {
		const staticData = Object.freeze({ key: JSON.stringify(known), object: { ...known } }) as never;
		writeSaved(staticData, 'key', known);
		expect([readSaved(staticData, 'key'), readSaved(staticData, 'object')]).toEqual([known, known]);
		expect(['a0', 'b', 'a1'].map((scrape) => leadsThatRan(known, scrape))).toEqual([
			['x'],
			[''],
			undefined,
		]);
		expect([scrapeOf(known, 'a1'), scrapeOf(known, 'a0')]).toEqual([known.running[0], undefined]);
	});

	test.each([
		...[undefined, null, 5, 'text', '[]', '{', '{"running":{},"done":5,"activation":[]}'],
		'{"running":[null,5,{},{"attempt":"a"}],"done":[null,5,[],["a"],["a",1],["a","b"]]}',
	])('is nothing if others wrote %j', (other) => {
		const read = readSaved({ key: other }, 'key');
		expect([read, merged(NOTHING, read)]).toEqual([NOTHING, NOTHING]);
	});

	test.each([
		['each knows another scrape', saved('a', ''), saved('b', ''), saved('a b', '')],
		['the first knows that it ran', saved('', 'a=x'), saved('a', ''), saved('', 'a=x')],
		['the second knows that it ran', saved('a', ''), saved('', 'a'), saved('', 'a')],
		['it ran again with leads', saved('', 'a'), saved('', 'a=x'), saved('', 'a=x')],
		['it ran again with others', saved('', 'a=x+y'), saved('', 'a=y+z'), saved('', 'a=x+y+z')],
		['it ran again without', saved('', 'a=x'), saved('', 'a'), saved('', 'a=x')],
		['the workflow was deactivated', known, saved('a1', ''), saved('a1', 'a0=x b')],
		['an ID is __proto__', NOTHING, saved('__proto__', 'toString'), saved('__proto__', 'toString')],
	])('is put together: %s', (_what, first, second, expected) => {
		expect(merged(first, second)).toEqual(expected);
	});

	test('changes with a start, its failure and a run', () => {
		const started = { attempt: 'a1', scrapeId: 'of a1', since: 1 };
		expect([
			changed(saved('', '', 'a1'), { started }),
			changed(saved('', '', 'a2'), { started }),
			changed(saved('', '', 'a1'), { failed: 'a1' }),
			changed(saved('', ''), { failed: 'a1' }),
			changed(saved('', '', ''), { activation: 'a3' }),
			changed(saved('a1 a2', '', ''), { done: ['a1', 'x', 'id of a1'] }),
		]).toEqual([
			saved('a1', '', ''),
			saved('a1', '', 'a2'),
			saved('', '', ''),
			saved('', ''),
			saved('', '', 'a3'),
			saved('a2', 'a1=x', ''),
		]);
	});

	test('stays small', () => {
		const ids = Array.from({ length: 500 }, (_, at) => `a${String(at)}`);
		const { done } = merged(saved('', ids.join(' ')), saved('', 'new'));
		expect(done.map(([id]) => id)).toEqual([...ids.slice(-199), 'new']);
	});
});

/** An error with two causes, of which the last one has a name of its own. */
function nested(message: string, name = 'Error', httpCode: string | null = null): Error {
	const last = Object.assign(new Error(message), { name, httpCode });
	return new Error('The request failed', { cause: new Error('Again', { cause: last }) });
}

const code = (httpCode: string) => nested('The request failed', 'NodeApiError', httpCode);
const refused = nested('connect ECONNREFUSED 127.0.0.1:5678');
const round = new Error('round');
round.cause = round;

test.each<[string, unknown[], string]>([
	['n8n blocks it', [nested('no', 'SsrfBlockedIpError')], 'N8N_SSRF_ALLOWED_HOSTNAMES'],
	['n8n blocks one', [code('404'), nested('', 'SsrfBlockedIpError')], 'N8N_SSRF_ALLOWED_IP_RANGES'],
	['it is not registered', [code('404')], 'is not registered'],
	['a proxy reaches nothing', [code('502')], 'NO_PROXY'],
	['a proxy has no tunnel', [nested('tunneling socket could not be established')], 'NO_PROXY'],
	['nothing listens', [refused], "'Internal URL'"],
	['something else answers', [new Error('something else answers there')], "'Internal URL'"],
	['its causes go round', [round], "'Internal URL'"],
	['nothing is known', ['text', undefined], "'Internal URL'"],
])('a webhook URL that is not reached says what to do: %s', (_what, problems, expected) => {
	const { message, advice } = new NotReachedError(problems);
	expect(message).toBe('n8n cannot reach the webhook URL of this node');
	const all = ['N8N_SSRF', 'is not registered', 'NO_PROXY', "Set the option 'Internal URL'"];
	expect(advice).toContain(expected);
	expect(all.filter((each) => advice.includes(each))).toHaveLength(1);
});
