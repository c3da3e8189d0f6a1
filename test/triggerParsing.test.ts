import './engine';
import { parse as parseForm } from 'node:querystring';
import { WebhookContext } from 'n8n-core';
import { Workflow, type INodeTypes, type IWorkflowExecuteAdditionalData } from 'n8n-workflow';
import { entriesOf, meantBody } from '../nodes/LeadGen/trigger/contents';
import { TriggerNode } from '../nodes/LeadGen/trigger/node';
import { Notification } from '../nodes/LeadGen/trigger/notification';
import { rawNotification, requestOf } from '../nodes/LeadGen/trigger/request';

const node = { id: 'n1', name: 'Trigger', type: 'leadGenTrigger', typeVersion: 1, parameters: {} };
const nodes = [{ ...node, position: [0, 0] as [number, number] }];
const nodeTypes = {
	getByNameAndVersion: () => ({ description: { properties: [] } }),
} as unknown as INodeTypes;
const workflow = new Workflow({ nodes, connections: {}, active: true, nodeTypes });
const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';

/** A request as n8n passes it to the node. n8n parses JSON, plain text, and a thousand fields of a form. */
function requestWith(type: string, text: string) {
	const parsers: Record<string, (body: string) => unknown> = {
		[JSON_TYPE]: JSON.parse,
		[FORM_TYPE]: (body) => parseForm(body, undefined, undefined, { maxKeys: 1000 }),
		'text/plain': (body) => body,
	};
	const parts = { rawBody: Buffer.from(text), body: parsers[type]?.(text) ?? {}, query: {} };
	const httpRequest = { method: 'POST', headers: { via: 'proxy' }, originalUrl: '/w', ...parts };
	const additional = { httpRequest } as unknown as IWorkflowExecuteAdditionalData;
	const [own] = nodes as [(typeof nodes)[0]];
	const hook = {} as never;
	const context = new WebhookContext(workflow, own, additional, 'webhook', hook, [], null);
	return requestOf(new TriggerNode(context));
}

const idsIn = (received: { query?: object; body?: unknown }) => new Notification(received).ids;

function leadsIn(body: unknown): (scrapeId?: unknown) => unknown[] | undefined {
	const notification = new Notification({ body });
	return (scrapeId) => notification.leadsOf(scrapeId);
}

/** As it would be in JSON: undefined is null, and prototypes do not matter. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));

const leads = [{ name: 'Ada' }, { name: 'Bob' }];
const [ada, bob] = leads;
const A = [{ of: 'a' }];
const B = [{ of: 'b' }, { of: 'b' }, { of: 'b' }];
const rich = { a: 1, contacts: [{ c: 1 }, { c: 2 }, { c: 3 }] };

describe('scrape IDs', () => {
	test.each<[string, { query?: object; body?: unknown }, string[]]>([
		['a field', { body: { scrapeId: 'a1' } }, ['a1']],
		['a field beside another ID', { body: { scrape_id: 'a1', id: 'other' } }, ['a1']],
		['data beside leads', { body: { data: { scrapeId: 'a1', leads: [{ id: 'l1' }] } } }, ['a1']],
		['a list', { body: [{ payload: { scrape: { id: 'a1' } } }] }, ['a1']],
		['the query', { query: { scrapeId: 'a1', token: 't' } }, ['a1']],
		['a repeated query', { query: { scrapeId: ['a1', 'b'] } }, ['a1', 'b']],
		['query and body', { query: { id: 'a1' }, body: { id: ['b', 'a1'] } }, ['a1', 'b']],
		['text of a form', { body: 'scrapeId=a1&status=completed' }, ['a1']],
		['text', { body: 'Scrape scrape_01ab completed' }, ['scrape_01ab']],
		['a broken JSON', { body: '{"scrapeId":"a1","status":"comp' }, ['a1']],
		['brackets', { body: { 'data[scrapeId]': 'a1', 'data[status]': 'completed' } }, ['a1']],
		['many brackets', { body: { 's[0][scrape_id]': 'a', 's[1].scrape_id': 'b' } }, ['a', 'b']],
		['dots', { body: { 'data.scrape-id': 'a1', 'data.jobId': 'b2' } }, ['a1']],
		['JSON in a field', { body: { payload: '{"scrapeId":"a1"}' } }, ['a1']],
		['JSON in JSON text', { body: '{"payload":"{\\"data\\":{\\"scrapeId\\":\\"a\\"}}"}' }, ['a']],
		['JSON text', { body: ' {"id":417,"status":"completed"}' }, ['417']],
		['JSON lines', { body: '{"event":"done"}\r\n{"scrapeId":"a1"}\r\n\r\n' }, ['a1']],
		['text after leads', { body: `{"leads":["${'x'.repeat(9000)}"],"scrapeId":"a"}` }, ['a']],
		['lists of IDs', { query: { jobs: ['a1'] }, body: { ids: [41, 7] } }, ['a1', '41', '7']],
		['an object with number keys', { body: { scrapeIds: { 0: 'a1', 1: 'b' } } }, ['a1', 'b']],
		['the name __proto__', { body: JSON.parse('{"__proto__":{"scrapeId":"a1"}}') }, ['a1']],
		['the value __proto__', { body: { scrapeId: '__proto__' } }, ['__proto__']],
		['a callback URL', { query: { leadgen: 'a1', id: 'b' } }, ['b']],
		['a longer name', { body: { id: 'evt', data: { scrape_job_uuid: 'a' } } }, ['a']],
	])('are found in %s', (_what, request, expected) => {
		expect(idsIn(request).likely).toEqual(expected);
	});

	test.each([
		...['a\nb', 'a\r', '\u001b[31ma', 'a<b', 'a>b', 'a\u0000', 'a\u0085b', 'a\u2028b', 'a\u2029'],
		...['\u202ea', 'a\u2066', 'a\u200bb', '\ufeffa', '\ud800', '', 'x'.repeat(201)],
	])('are none if they could forge a line or a link: %j', (scrapeId) => {
		for (const body of [{ scrapeId }, { id: [scrapeId] }, { userId: scrapeId }]) {
			expect(idsIn({ body })).toEqual({ likely: [], others: [] });
		}
		expect(idsIn({ body: `scrapeId="${scrapeId}"` }).likely).not.toContain(scrapeId);
	});

	test('are up to a hundred with the name of a scrape ID, otherwise up to five', () => {
		const ids = Array.from({ length: 120 }, (_, index) => `scrape ${String(index)}`);
		const likely = (name: string) => [
			idsIn({ body: { scrapes: ids.map((id) => ({ [name]: id })) } }).likely,
			idsIn({ body: JSON.stringify({ [`${name}s`]: ids }) }).likely,
			idsIn({ query: { [name]: ids } }).likely,
		];
		expect(likely('scrapeId')).toEqual(new Array(3).fill(ids.slice(0, 100)));
		expect(likely('id')).toEqual(new Array(3).fill(ids.slice(0, 5)));
		expect(idsIn({ body: { userIds: ids, taskId: 7 } }).others).toEqual(['7', ...ids.slice(0, 4)]);
	});
});

test.each<[boolean, object | string]>([
	[true, { status: 'COMPLETED' }],
	[true, { event: 'scrape.failed' }],
	[true, { event: 'scrape_completed' }],
	[true, { eventType: 'SCRAPE_COMPLETED' }],
	[true, { event_type: 'scrapeCompleted' }],
	[true, { 'data.status': 'done' }],
	[true, 'Your scrape is finished'],
	[false, { status: 'incomplete' }],
	[false, { event: 'scrape_started', name: 'completed' }],
])('a notification says that the scrape is finished: %p in %j', (expected, body) => {
	expect(new Notification({ body }).saysOf().isFinal).toBe(expected);
});

describe('the leads of a notification', () => {
	test.each<[string, unknown, unknown?]>([
		['leads', { leads }],
		['a general name', { data: { scrape: { id: 1 }, results: leads } }],
		['a list alone', leads],
		['leads beside a longer list', { sources: [{}, {}, {}], leads: A }, A],
		['any list of objects', { unknown: leads, tags: ['x', 'y', 'z'] }],
		['one message', [{ event: 'done', leads }]],
		['a list with null', { leads: [ada, null, bob] }],
		['leads with contacts', { leads: [rich] }, [rich]],
		['a lead with the ID', { leads: [{ scrapeId: 'a', ...rich }] }, [{ scrapeId: 'a', ...rich }]],
		['data with contacts', { id: 'a', data: [rich, { id: 'b' }] }, [rich, { id: 'b' }]],
		['JSON in a field', { scrapeId: 'a', leads: JSON.stringify(leads) }],
		['JSON in JSON', { payload: JSON.stringify({ leads: JSON.stringify(leads) }) }],
		['a list of texts', { leads: ['a@b.com', 'c@d.com'] }, ['a@b.com', 'c@d.com']],
		['XML with one lead', { scrape: { id: 'a', leads: { lead: { id: 'l' } } } }, [{ id: 'l' }]],
		['XML with two leads', { leads: { lead: leads } }],
		['number keys', { leads: { 0: ada, 7: bob } }],
		['number keys alone', { 0: ada, 1: bob }],
		['JSON lines', leads.map((lead) => JSON.stringify(lead)).join('\n')],
		['fields', { scrapeId: 'a', 'leads[0][name]': 'Ada', 'leads[1][name]': 'Bob' }],
		['fields with dots', { 'data[leads][0].name': 'Ada', 'data[leads][1].name': 'Bob' }],
		['fields of texts', { 'leads[]': ['a', 'b'] }, ['a', 'b']],
		['__proto__', { 'leads[0][__proto__]': 1 }, [JSON.parse('{"__proto__":1}')]],
		['an ID of something else', { scrape: { id: 'a' }, account: { id: 'c' }, leads }],
		['nothing', undefined, null],
		['lines that are no JSON', '{"a":1}\n{"a":', null],
		['a number', { scrapeId: 'a', leads: 5 }, null],
		['no leads', { leads: [], warnings: [{ w: 1 }] }, null],
		['errors', { scrapeId: 'a', status: 'failed', errors: [{ message: 'no' }] }, null],
	])('are found in %s', (_what, body, expected = leads) => {
		const find = leadsIn(body);
		expect([find('a'), find()].map(plain)).toEqual([expected, expected].map(plain));
	});

	test('are those beside the ID, if it names several scrapes', () => {
		const all: Record<string, unknown[]> = { 1: A, 22: B, c: ['c', 'c'] };
		const scrapes = Object.entries(all).map(([scrapeId, list]) => ({ scrapeId, leads: list }));
		const [first, second, third] = scrapes;
		const nested = scrapes.map(({ scrapeId, ...data }) => ({ scrapeId, data }));
		const bodies = [
			scrapes,
			{ event: 'done', scrapes },
			scrapes.map((scrape) => JSON.stringify(scrape)).join('\n'),
			{ first, second: { data: second }, third: [third] },
			{ scrapes: { 0: first, 1: second, 2: third } },
			{ jobs: nested.map(({ scrapeId, data }) => ({ id: scrapeId.toUpperCase(), ...data })) },
			{ jobs: scrapes.map(({ scrapeId, leads: results }) => ({ scrapeId, results })).slice(0, 2) },
			{ scrapes: Object.fromEntries(nested.map(({ scrapeId, data }) => [scrapeId, data])) },
			{ scrapes: { 1: { leads: A }, 22: { leads: B } } },
		];
		for (const body of bodies) expect(['1', '22'].map(leadsIn(body))).toEqual([A, B]);
	});

	test('are none where a list without a name for leads holds scrapes', () => {
		const list = [
			{ scrapeId: 'a', status: 'completed', leadsFound: 2 },
			{ scrape_id: 'b', state: 'FAILED' },
		];
		const bodies = [
			list,
			{ scrapes: list },
			{ data: list },
			list.slice(0, 1),
			{ jobs: { 0: list[1] } },
		];
		for (const find of bodies.map(leadsIn))
			expect([find('a'), find('b'), find()]).toEqual([undefined, undefined, undefined]);
		const withLeads = leadsIn({ data: list, leads });
		expect([withLeads('a'), withLeads()]).toEqual([leads, leads]);
	});

	test('are not those of another scrape', () => {
		const failed = { scrapeId: 'a', status: 'failed' };
		const other = { scrapeId: 'b', status: 'completed', leads: B };
		const bodies = [[failed, other], { first: failed, second: other }, { jobs: [other, failed] }];
		for (const find of bodies.map(leadsIn)) expect([find('a'), find('b')]).toEqual([undefined, B]);
	});
});

describe('a body', () => {
	const json = JSON.stringify({ scrapeId: 'a=1', leads: [{ name: 'Ada & Bob = 2' }] });
	const long = Array.from({ length: 1400 }, (_, at) => `leads[${String(at)}][name]=a`).join('&');

	test.each<[string, string, string, unknown]>([
		['JSON', JSON_TYPE, json, JSON.parse(json)],
		['JSON in a form', FORM_TYPE, json, JSON.parse(json)],
		['JSON encoded in a form', FORM_TYPE, encodeURIComponent(json), JSON.parse(json)],
		['JSON of no type', 'application/octet-stream', json, json],
		['text', 'text/plain', json, json],
		['an empty list', JSON_TYPE, '[]', []],
		['nothing', JSON_TYPE, '{}', '{}'],
		['a form', FORM_TYPE, 'a=1&a=2&b=3', { a: ['1', '2'], b: '3' }],
		['a long form', FORM_TYPE, long, Object.fromEntries(new URLSearchParams(long))],
	])('is read: %s', (_what, type, text, expected) => {
		const request = requestWith(type, text);
		expect([plain(request.body), request.text]).toEqual([expected, `/w\nproxy\n${text}`]);
	});

	test('comes without secrets', () => {
		const secret = 'ab'.repeat(32);
		const url = (signature: string) => `https://n8n.example.com/webhook/1?leadgen=a1.${signature}`;
		const copies = (sign: string) => ({
			url: url(sign),
			in: [{ json: JSON.stringify(url(sign)) }],
		});
		const secrets = {
			Authorization: 'x',
			cookie: 'y',
			'x-api-key': 'k',
			'x-leadgen-signature': 'z',
		};
		const request = {
			...requestWith(JSON_TYPE, JSON.stringify(copies(secret))),
			headers: { ...secrets, via: url(secret.toUpperCase()) },
			query: { leadgen: `a1.${secret}`, a: '1', next: url(secret) },
		};
		expect(rawNotification(request, secret)).toEqual({
			...{ method: 'POST', headers: { via: url('***') }, body: copies('***') },
			query: { a: '1', next: url('***') },
		});
	});

	test('that is too deep to be saved is left out', () => {
		const deep = `{"scrapeId":"a","leads":[${'['.repeat(20_000)}${']'.repeat(20_000)}]}`;
		for (const secret of ['', 'ab'.repeat(32)]) {
			expect(rawNotification(requestWith(JSON_TYPE, deep), secret).body).toBeNull();
		}
		expect(idsIn(requestWith(JSON_TYPE, deep)).likely).toEqual(['a']);
	});
});

describe('the search is bounded', () => {
	let reads = 0;

	/** Counts the texts that are parsed, and what is read of a list or an object that is watched. */
	function counted(search: (watch: <T extends object>(body: T) => T) => unknown) {
		reads = 0;
		const parsing = jest.spyOn(JSON, 'parse');
		search((body) => new Proxy(body, { get: (...of) => (reads++, Reflect.get(...of) as unknown) }));
		const parsed = parsing.mock.calls.length;
		parsing.mockRestore();
		return { reads, parsed };
	}

	test('in lists of texts that look like JSON', () => {
		const body = Array.from({ length: 100 }, () => new Array<string>(2000).fill('['));
		expect(entriesOf(body)).toHaveLength(20_000);
		expect(counted(() => entriesOf(body)).parsed).toBe(100);
		// Four million characters at most.
		const long = new Array<string>(50).fill(`["${'x'.repeat(990_000)}"]`);
		expect(counted(() => entriesOf(long)).parsed).toBe(4);
	});

	test('in millions of lists', () => {
		const body = new Array<unknown>(5_000_000).fill([]);
		expect(counted((watch) => entriesOf(watch(body))).reads).toBeLessThan(20_100);
	});

	test('in lines', () => {
		const texts = ['{\n'.repeat(90_000), `{${'\n'.repeat(5_000_000)}`, '{}\n'.repeat(100_001)];
		expect(texts.map(meantBody)).toEqual(texts);
		const parsed = texts.map((text) => counted(() => meantBody(text)).parsed);
		expect(parsed.every((count) => count <= 100_002)).toBe(true);
		expect(parsed.slice(0, 2)).toEqual([2, 2]);
	});

	test('in names of fields', () => {
		const long = { ['a[b'.repeat(1_000_000)]: '1', [`c${'[d]'.repeat(100_000)}`]: '2' };
		expect(entriesOf(meantBody(long)).length).toBeLessThan(50);
		expect(idsIn({ body: long })).toEqual({ likely: [], others: [] });
	});

	test('for many scrapes, by reading the body once', () => {
		const list = [{ name: 'Ada', more: 'x'.repeat(120) }];
		const ids = Array.from({ length: 1200 }, (_, at) => `s${String(at)}`);
		const scrapes = ids.map((scrapeId) => ({ scrapeId, leads: list }));
		expect(JSON.stringify(scrapes).length).toBeGreaterThan(186_000);
		let find = leadsIn(undefined);
		counted((watch) => (find = leadsIn(watch(scrapes))));
		// The first search reads the lists.
		find(ids[0]);
		const again = counted(() => {
			for (const id of ids.slice(0, 100)) expect(find(id)).toEqual(list);
		});
		expect(again).toEqual({ reads: 0, parsed: 0 });
	});

	test('in objects that are nested deeply beside leads', () => {
		const deep = `[{"leads":[],"a":${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}}]`;
		expect(entriesOf(JSON.parse(deep))).toHaveLength(20_000);
		expect(leadsIn(JSON.parse(deep))('a')).toBeUndefined();
	});
});
