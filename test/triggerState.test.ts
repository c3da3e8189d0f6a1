import type { IDataObject } from 'n8n-workflow';
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
	return new state.NodeState('node 1').read(givenWith(value));
}

/** What n8n gives. @param value what is saved of the node */
function givenWith(value: unknown, isActiveInN8n = true) {
	return { staticData: { 'node 1': value } as IDataObject, isActiveInN8n };
}

describe('what is saved', () => {
	test('is read as it was written', () => {
		for (const each of [saved('a0! a1', 'a1'), saved('a1', ''), saved('')])
			expect(savedIn(JSON.stringify(each))).toEqual(each);
		expect(savedIn(undefined)).toEqual(saved(''));
		expect(scrapeOf(saved('a0! a1'), 'a0')?.isDone).toBe(true);
		expect([scrapeOf(saved('a1'), 'a2'), scrapeOf(saved('a1'))]).toEqual([undefined, undefined]);
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

	/** What a node tells itself when a start is through. */
	const startOf = (attempt: string) => ({ through: attempt, ...saved(attempt) });

	test.each<[string, state.Saved, state.Message, boolean, state.Saved]>([
		['asks for an activation', saved(''), { activation: 'a1' }, true, saved('', 'a1')],
		['asks for one after a deactivation', saved(''), { activation: 'a1' }, false, saved('')],
		['asks for another activation', saved('', 'a1'), { activation: 'b' }, true, saved('', 'a1')],
		['asks for one that is through', saved('', ''), { activation: 'a1' }, true, saved('', '')],
		['brings a start', saved('', 'a1'), startOf('a1'), true, saved('a1', '')],
		['brings another start', saved('', 'a1'), startOf('b'), true, saved('b', 'a1')],
		['brings a late start', saved(''), startOf('b'), false, saved('b')],
		['brings a completion', saved('a1', ''), saved('a1!'), true, saved('a1!', '')],
		['brings nothing', saved('a1', 'a1'), {}, true, saved('a1', 'a1')],
	])('changes if a message %s', (_what, before, message, isActive, expected) => {
		const node = new state.NodeState('node 1');
		node.write(givenWith(JSON.stringify(before), isActive), message);
		expect(node.saved).toEqual(expected);
	});

	test('keeps running scrapes and the last ones that ran', () => {
		const names = (prefix: string, count: number) =>
			Array.from({ length: count }, (_, at) => prefix + String(at));
		const many = [...names('r', 1100), ...names('d', 500).map((name) => `${name}!`)].join(' ');
		const kept = united(saved(many), saved('new').scrapes).scrapes.map(({ attempt }) => attempt);
		expect(kept).toEqual([...names('d', 500).slice(-200), ...names('r', 1100), 'new']);
	});
});

describe('the attempt that an activation asks for', () => {
	const place = { url: 'https://n8n.example.com', addresses: [] };
	/** What n8n calls, and what is saved in between. */
	type Step = 'activate' | 'update' | 'init' | 'leadershipChange' | 'delete' | 'saved' | 'through';

	/** What comes of it: `new`, the `same` attempt as before, empty text for none, and undefined if nobody knows. */
	function after(steps: Step[], staticData = {}, isOnce = true): string | undefined {
		const given = { staticData, isActiveInN8n: true };
		const node = new state.NodeState('node 1');
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
		['it is switched from receiving', ['delete', 'update'], {}, 'new'],
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

test('what the own URL does not take counts here, and is saved with what it takes, but for an activation', () => {
	const node = new state.NodeState('node 1');
	const [first] = saved('a1!').scrapes;
	node.notReached({ activation: 'a1', scrapes: first && [first] });
	expect(node.saved).toEqual(saved('a1!'));
	expect(node.unreachedSince).toBeDefined();
	const given = givenWith(JSON.stringify(saved('a1 a2')));
	node.write(given, {});
	expect(JSON.parse(given.staticData['node 1'] as string)).toEqual(saved('a1! a2'));
	node.reached(saved('', 'a1'), node.signal);
	expect(node.unreachedSince).toBeUndefined();
});

test('what a reply says that is saved counts while the node is active, but not after a deactivation', () => {
	const node = new state.NodeState('node 1');
	const { signal } = node;
	node.reached(saved('', 'a1'), signal);
	expect(node.saved).toEqual(saved(''));
	node.place = { url: '', addresses: [] };
	node.reached(saved('a1', 'a1'), signal);
	expect(node.saved).toEqual(saved('a1', 'a1'));
	node.close(givenWith(undefined));
	node.open(givenWith(undefined), 'activate', true);
	node.place = { url: '', addresses: [] };
	node.reached(saved('', 'a1'), signal);
	expect(node.saved.activation).toBeUndefined();
});

test('an old copy that others saved undoes nothing, and brings back nothing', () => {
	const node = new state.NodeState('node 1');
	const old = givenWith(JSON.stringify(saved('', 'a1')));
	node.write(givenWith(JSON.stringify(saved('', 'a1'))), { through: 'a1' });
	node.place = { url: '', addresses: [] };
	expect(node.read(old).activation).toBe('');
	node.close(old);
	expect(node.open(givenWith(JSON.stringify(saved('', ''))), 'activate', true)).toMatch(/^a/);
});

test.each([true, false])(
	'a hook that n8n 2 repeats after a failure opens the node, if it leads: %j',
	(leads) => {
		const node = new state.NodeState('node 1');
		const given = givenWith(undefined);
		const activation = node.open(given, 'activate', true);
		if (leads) node.leader = { due() {}, close() {} };
		// n8n cleans up in between, and does not call trigger() again.
		node.close(given);
		node.activated({ url: 'https://n8n.example.com', addresses: [] });
		node.write(given, { activation });
		expect(node.isActive(given)).toBe(leads);
		expect(node.saved.activation).toBe(leads ? activation : undefined);
	},
);
