import type { IDataObject } from 'n8n-workflow';
import { notReached } from '../nodes/LeadGen/trigger/notices';
import * as state from '../nodes/LeadGen/trigger/state';

const { scrapeOf, united } = state;

/** What is saved of scrapes, such as `a1 a2!`; those with a mark are done. */
function saved(text: string, activation?: string): state.Saved {
	const scrapes = (text.match(/\S+/g) ?? []).map((word) => {
		const attempt = word.replace('!', '');
		return { attempt, scrapeId: `of ${attempt}`, since: 1, isDone: word.endsWith('!') };
	});
	return { ...(activation !== undefined && { activation }), scrapes };
}

/** What a node makes of its static data. */
function savedIn(value: unknown): state.Saved {
	return new state.NodeState('node 1', 'node').read(givenWith(value));
}

/** What n8n gives. @param value what is saved of the node */
function givenWith(value: unknown, isActiveInN8n = true) {
	return { staticData: { 'node 1': value } as IDataObject, isActiveInN8n };
}

describe('what is saved', () => {
	test('is read as it was written', () => {
		for (const each of [saved('a0! a1', 'a1'), saved('a1', ''), saved('')])
			expect([savedIn(JSON.stringify(each)), savedIn(each)]).toEqual([each, each]);
		expect(scrapeOf(saved('a0! a1'), 'a0')?.isDone).toBe(true);
		expect([scrapeOf(saved('a1'), 'a2'), scrapeOf(saved('a1'))]).toEqual([undefined, undefined]);
	});

	const scrape = { attempt: 'a', scrapeId: 's', since: 1, isDone: false };
	test.each([
		...[undefined, null, 5, 'text', '[]', '{', { scrapes: {} }, { activation: [] }],
		...[{ activation: 'A b' }, { activation: 'a'.repeat(81) }, { scrapes: [null, 5, {}, []] }],
		{ scrapes: [{ ...scrape, scrapeId: 'x'.repeat(201) }] },
		{
			scrapes: [
				{ ...scrape, scrapeId: 'a<b' },
				{ ...scrape, attempt: 'a.b' },
			],
		},
		{
			scrapes: [
				{ ...scrape, since: NaN },
				{ ...scrape, isDone: 'yes' },
			],
		},
	])('is nothing if others wrote %j', (other) => {
		expect([savedIn(other), savedIn(JSON.stringify(other))]).toEqual([saved(''), saved('')]);
	});

	test.each([
		['each copy knows another scrape', saved('a', 'x'), saved('b'), saved('a b', 'x')],
		['the first copy knows that it ran', saved('a!'), saved('a'), saved('a!')],
		['the second copy knows that it ran', saved('a'), saved('a!'), saved('a!')],
		['the workflow was deactivated', saved(''), saved('a', 'x'), saved('a')],
		['an attempt is __proto__', saved('__proto__'), saved('b'), saved('__proto__ b')],
	])('is united if %s', (_what, first, second, expected) => {
		expect(united(first, second.scrapes)).toEqual(expected);
	});

	test.each<[string, state.Saved, state.Message, boolean, state.Saved]>([
		['asks for an activation', saved(''), { activation: 'a1' }, true, saved('', 'a1')],
		['asks for one after a deactivation', saved(''), { activation: 'a1' }, false, saved('')],
		['asks for another activation', saved('', 'a1'), { activation: 'b' }, true, saved('', 'a1')],
		['asks for one that is through', saved('', ''), { activation: 'a1' }, true, saved('', '')],
		['brings a start', saved('', 'a1'), { through: 'a1', ...saved('a1') }, true, saved('a1', '')],
		[
			'brings another start',
			saved('', 'a1'),
			{ through: 'b', ...saved('b') },
			true,
			saved('b', 'a1'),
		],
		['brings a late start', saved(''), { through: 'b', ...saved('b') }, false, saved('b')],
		['brings a completion', saved('a1', ''), saved('a1!'), true, saved('a1!', '')],
		['brings nothing', saved('a1', 'a1'), {}, true, saved('a1', 'a1')],
	])('changes if a message %s', (_what, before, message, isActive, expected) => {
		const node = new state.NodeState('node 1', 'node');
		node.write(givenWith(JSON.stringify(before), isActive), message);
		expect(node.saved).toEqual(expected);
	});

	test('stays small, and keeps running scrapes and the last ones that ran', () => {
		const names = (prefix: string, count: number) =>
			Array.from({ length: count }, (_, at) => prefix + String(at));
		const many = [...names('r', 1100), ...names('d', 500).map((name) => `${name}!`)].join(' ');
		const kept = united(saved(many), saved('new').scrapes).scrapes.map(({ attempt }) => attempt);
		expect(kept).toEqual([...names('d', 500).slice(-200), ...names('r', 1100).slice(-999), 'new']);
	});
});

describe('the attempt that an activation asks for', () => {
	const place = { url: 'https://n8n.example.com', addresses: [] };
	/** What n8n calls, and what is saved in between. */
	type Step = 'activate' | 'update' | 'init' | 'leadershipChange' | 'delete' | 'saved' | 'through';

	/** What comes of it: `new`, the `same` attempt as before, empty text for none, and undefined if nobody knows. */
	function after(steps: Step[], staticData = {}, isOnce = true): string | undefined {
		const given = { staticData, isActiveInN8n: true };
		const node = new state.NodeState('node 1', 'node');
		const attempts = new Set<string>();
		let last: string | undefined;
		let result: string | undefined;
		for (const step of steps) {
			if (step === 'saved') node.write(given, { activation: last });
			else if (step === 'through') node.write(given, { through: last });
			else if (step === 'delete') node.close(given);
			else {
				last = node.open(given, step, isOnce);
				node.place = place;
				const isKnown = last === undefined || last === '' || attempts.has(last);
				result = !isKnown ? 'new' : last && 'same';
				if (last) attempts.add(last);
			}
			// Its start begins when it is saved.
			if (step === 'saved') node.asked = '';
		}
		return result;
	}

	const known = (activation?: string) => ({
		'node 1': JSON.stringify({ activation, scrapes: [] }),
	});
	test.each<[string, Step[], object, string | undefined]>([
		['a user activates it', ['activate'], {}, 'new'],
		['n8n repeats the activation', ['activate', 'saved', 'activate'], {}, 'same'],
		['n8n repeats it after the start', ['activate', 'saved', 'through', 'activate'], {}, ''],
		['n8n tries a refused one again', ['activate', 'delete', 'activate'], {}, 'same'],
		['a user corrects a refused one', ['activate', 'delete', 'update'], {}, 'same'],
		['a save interrupts its start', ['activate', 'saved', 'delete', 'update'], {}, 'same'],
		['it is saved', ['activate', 'saved', 'through', 'delete', 'update'], {}, ''],
		['it is added to an active workflow', ['update'], {}, 'new'],
		['it is saved after a restart', ['delete', 'update'], known(''), ''],
		['it is activated again', ['activate', 'saved', 'delete', 'activate'], {}, 'new'],
		['the same after its start', ['activate', 'saved', 'through', 'delete', 'activate'], {}, 'new'],
		['n8n starts before its start', ['init'], known('a1'), 'new'],
		['n8n starts after its start', ['init'], known(''), ''],
		['n8n starts, and nothing is saved', ['init'], {}, undefined],
		['this process comes to lead', ['leadershipChange'], known(''), ''],
		['it led before', ['activate', 'delete', 'leadershipChange'], {}, undefined],
	])('when %s', (_what, steps, staticData, expected) => {
		expect(after(steps, { ...staticData })).toBe(expected);
	});

	test('is none with a schedule', () => {
		for (const step of ['activate', 'update', 'init'] as const)
			expect(after([step], {}, false)).toBe('');
	});
});

test('what the own URL does not take goes along with the next message', () => {
	const node = new state.NodeState('node 2', 'node');
	const [first] = saved('a1').scrapes;
	node.notReached({ activation: 'a1', through: 'a0', scrapes: first && [first] });
	expect(node.saved).toEqual(saved('a1'));
	expect(node.unreachedSince).toBeDefined();
	const next = node.withUnsaved({ scrapes: saved('a1! a2').scrapes });
	expect(next).toEqual({ through: 'a0', scrapes: saved('a2 a1!').scrapes.toReversed() });
	node.reached(saved('a1!'));
	expect([node.withUnsaved({}).scrapes, node.unreachedSince]).toEqual([[], undefined]);
});

/** An error with two causes, of which the last one has a name of its own. */
function nested(message: string, httpCode: string | null = null): Error {
	const last = Object.assign(new Error(message), { httpCode });
	return new Error('The request failed', { cause: new Error('Again', { cause: last }) });
}

const code = (httpCode: string) => nested('The request failed', httpCode);
const round = new Error('round');
round.cause = round;

test.each<[string, unknown[], string]>([
	['it is not registered', [code('404')], 'is not registered'],
	['no address knows it', [code('404'), code('404')], 'is not registered'],
	['another n8n does not know it', [code('403'), code('404')], 'in front of n8n answers HTTP 403'],
	['a proxy reaches nothing', [code('502')], 'NO_PROXY'],
	['a proxy has no tunnel', [nested('tunneling socket could not be established')], 'NO_PROXY'],
	[
		'nothing listens',
		[nested('connect ECONNREFUSED 127.0.0.1:5678')],
		"Set the option 'Internal URL'",
	],
	['its causes go round', [round], "Set the option 'Internal URL'"],
	['nothing is known', ['text', undefined], "Set the option 'Internal URL'"],
])('a webhook URL that is not reached says what to do: %s', (_what, problems, expected) => {
	const { message, advice } = notReached(problems);
	expect(message).toBe('n8n cannot reach the webhook URL of this node');
	const front = 'in front of n8n answers HTTP 403';
	const all = ['is not registered', front, 'NO_PROXY', "Set the option 'Internal URL'"];
	expect(all.filter((each) => advice.includes(each))).toEqual([expected]);
});
