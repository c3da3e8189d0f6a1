import { NotReachedError } from '../nodes/LeadGen/trigger/notices';
import {
	leadsOf,
	merged,
	NOTHING,
	readSaved,
	scrapeOf,
	writeSaved,
	type Saved,
} from '../nodes/LeadGen/trigger/running';

const running = (attempt: string) => ({ attempt, scrapeId: `scrape ${attempt}`, since: 1 });

describe('what is saved', () => {
	const saved: Saved = {
		activation: 'a1',
		running: [running('a1')],
		done: [
			['a0', 'leads'],
			['b', ''],
		],
	};

	test('is read as it was written, and written only if it changed', () => {
		const staticData = Object.freeze({ key: JSON.stringify(saved) });
		writeSaved(staticData, 'key', saved);
		expect(readSaved(staticData, 'key')).toEqual(saved);
		expect(readSaved({ key: { ...saved } } as never, 'key')).toEqual(saved);
		expect([leadsOf(saved, 'a0'), leadsOf(saved, 'b'), leadsOf(saved, 'a1')]).toEqual([
			'leads',
			'',
			undefined,
		]);
		expect([scrapeOf(saved, 'a1'), scrapeOf(saved, 'a0')]).toEqual([running('a1'), undefined]);
	});

	test.each([
		undefined,
		null,
		5,
		'text',
		'[]',
		'{',
		'{"running":{},"done":5,"activation":[]}',
		'{"running":[null,5,{},{"attempt":"a"}],"done":[null,5,[],["a"],["a",1]]}',
	])('is nothing if others wrote %j', (other) => {
		expect(readSaved({ key: other as string }, 'key')).toEqual(NOTHING);
		expect(merged(NOTHING, readSaved({ key: other as string }, 'key'))).toEqual(NOTHING);
	});

	test.each<[string, Saved, Saved, Saved]>([
		[
			'both know another scrape',
			{ running: [running('a')], done: [] },
			{ running: [running('b')], done: [] },
			{ running: [running('a'), running('b')], done: [] },
		],
		[
			'one knows that it ran',
			{ running: [running('a')], done: [] },
			{ running: [], done: [['a', '']] },
			{ running: [], done: [['a', '']] },
		],
		[
			'the other knows it',
			{ running: [], done: [['a', 'x']] },
			{ running: [running('a')], done: [] },
			{ running: [], done: [['a', 'x']] },
		],
		['both know it', saved, saved, saved],
		[
			'one ran again with leads',
			{ running: [], done: [['a', '']] },
			{ running: [], done: [['a', 'x']] },
			{ running: [], done: [['a', 'x']] },
		],
		[
			'the workflow was deactivated',
			saved,
			{ ...saved, activation: undefined },
			{ running: saved.running, done: saved.done },
		],
		[
			'an attempt is called __proto__',
			NOTHING,
			{ running: [running('__proto__')], done: [['__proto__', '']] },
			{ running: [], done: [['__proto__', '']] },
		],
	])('is put together if %s', (_what, known, read, expected) => {
		expect(merged(known, read)).toEqual(expected);
	});

	test('stays small', () => {
		const done = Array.from({ length: 500 }, (_, at): [string, string] => [`a${String(at)}`, '']);
		expect(merged({ running: [], done }, { running: [], done: [['new', '']] }).done).toEqual([
			...done.slice(-199),
			['new', ''],
		]);
	});
});

describe('a production URL that is not reached', () => {
	const caused = (name: string, message: string) =>
		new Error('The request failed', {
			cause: new Error('Nested', { cause: Object.assign(new Error(message), { name }) }),
		});
	const coded = (httpCode: string | null) =>
		Object.assign(new Error('The request failed'), { httpCode });
	const PROXY = 'NO_PROXY';
	const INTERNAL = "Set the option 'Internal URL'";

	test.each<[string, unknown[], string]>([
		['n8n blocks it', [caused('SsrfBlockedIpError', 'blocked')], 'N8N_SSRF_ALLOWED_HOSTNAMES'],
		[
			'n8n blocks one address',
			[coded('404'), caused('SsrfBlockedIpError', 'blocked')],
			'N8N_SSRF_ALLOWED_IP_RANGES',
		],
		['it is not registered', [coded('404')], 'is not registered'],
		[
			'the message says so',
			[new Error('Request failed with status code 404')],
			'is not registered',
		],
		[
			'one address is not registered',
			[new Error('connect ECONNREFUSED'), coded('404')],
			'is not registered',
		],
		...['407', '502', '503', '504'].map((code): [string, unknown[], string] => [
			`a proxy answers ${code}`,
			[coded(code)],
			PROXY,
		]),
		[
			'a proxy has no tunnel',
			[caused('Error', 'tunneling socket could not be established')],
			PROXY,
		],
		['nothing listens', [caused('Error', 'connect ECONNREFUSED 127.0.0.1:5678')], INTERNAL],
		['the name is unknown', [caused('Error', 'getaddrinfo ENOTFOUND n8n')], INTERNAL],
		['something else answers', [new Error('something else answers there')], INTERNAL],
		['the error is none', ['text', undefined], INTERNAL],
		['there is no address', [], INTERNAL],
	])('says what to do if %s', (_what, problems, expected) => {
		const { message, advice } = new NotReachedError(problems);
		expect(message).toBe('n8n cannot reach the production URL of this node');
		expect(advice).toContain(expected);
	});

	test('ends the search in causes that go round', () => {
		const error = new Error('round');
		error.cause = error;
		expect(new NotReachedError([error]).advice).toContain(INTERNAL);
	});
});
