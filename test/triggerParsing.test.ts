import './engine';
import { parse as parseForm } from 'node:querystring';
import fc from 'fast-check';
import { WebhookContext } from 'n8n-core';
import { Workflow, type IWorkflowExecuteAdditionalData, type INodeTypes } from 'n8n-workflow';
import { entriesOf, meantBody } from '../nodes/LeadGen/trigger/contents';
import { leadsIn } from '../nodes/LeadGen/trigger/leads';
import {
	idsOf,
	rawNotification,
	requestOf,
	type IncomingRequest,
} from '../nodes/LeadGen/trigger/notification';

const node = {
	...{ id: 'n1', name: 'Trigger', type: 'leadGenTrigger', typeVersion: 1 },
	position: [0, 0] as [number, number],
	parameters: {},
};
const nodeTypes: INodeTypes = {
	getByName: () => ({}) as never,
	getByNameAndVersion: () => ({ description: { properties: [] } }) as never,
	getKnownTypes: () => ({}),
};
const workflow = new Workflow({ nodes: [node], connections: {}, active: true, nodeTypes });
const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';

/** A request as n8n gives it to the node; n8n parses JSON, forms and plain text. */
function requestWith(type: string, text: string, query = {}): IncomingRequest {
	const parsers: Record<string, (body: string) => unknown> = {
		[JSON_TYPE]: JSON.parse,
		[FORM_TYPE]: (body) => parseForm(body, undefined, undefined, { maxKeys: 1000 }),
		'text/plain': (body) => body,
	};
	const httpRequest = {
		method: 'POST',
		originalUrl: '/webhook/id/leadgen',
		headers: { 'content-type': type },
		query,
		body: parsers[type]?.(text) ?? {},
		rawBody: Buffer.from(text),
	};
	const additional = { httpRequest } as unknown as IWorkflowExecuteAdditionalData;
	const webhook = { webhookDescription: {} } as never;
	return requestOf(new WebhookContext(workflow, node, additional, 'webhook', webhook, [], null));
}

/** What a notification says, with JSON as its content type. */
function idsIn({ query = {}, body }: { query?: object; body?: unknown }) {
	return idsOf({ query: query as Record<string, unknown>, body });
}

const leads = [{ name: 'Ada' }, { name: 'Bob' }];
const A = [{ of: 'a' }];
const B = [{ of: 'b' }, { of: 'b' }, { of: 'b' }];
const ONE = { a: 1, contacts: [{ c: 1 }, { c: 2 }, { c: 3 }] };

describe('scrape IDs', () => {
	test.each<[string, { query?: object; body?: unknown }, string[]]>([
		['a field', { body: { scrapeId: 'a1' } }, ['a1']],
		['a field beside another ID', { body: { scrape_id: 'a1', id: 'other' } }, ['a1']],
		['a number', { body: { scrapeId: 1234567 } }, ['1234567']],
		['data beside leads', { body: { data: { scrapeId: 'a1', leads: [{ id: 'l1' }] } } }, ['a1']],
		['a list', { body: [{ payload: { scrape: { id: 'a1' } } }] }, ['a1']],
		['the query', { query: { scrapeId: 'a1', token: 't' } }, ['a1']],
		['a repeated query', { query: { scrapeId: ['a1', 'b'] } }, ['a1', 'b']],
		['an ID', { body: { id: 'a1' } }, ['a1']],
		['query and body', { query: { id: 'a1' }, body: { id: ['b', 'a1'] } }, ['a1', 'b']],
		['text of a form', { body: 'scrapeId=a1&status=completed' }, ['a1']],
		['text', { body: 'Scrape scrape_01ab completed' }, ['scrape_01ab']],
		['a broken JSON', { body: '{"scrapeId":"a1","status":"comp' }, ['a1']],
		['brackets', { body: { 'data[scrapeId]': 'a1', 'data[status]': 'completed' } }, ['a1']],
		[
			'several brackets',
			{ body: { 'scrapes[0][scrape_id]': 'a1', 'scrapes[1].scrape_id': 'b', 'user[id]': '7' } },
			['a1', 'b'],
		],
		['dots', { body: { 'data.scrape-id': 'a1', 'data.jobId': 'b2' } }, ['a1']],
		['JSON in a field', { body: { payload: '{"scrapeId":"a1"}' } }, ['a1']],
		['JSON in JSON text', { body: '{"payload":"{\\"data\\":{\\"scrapeId\\":\\"a\\"}}"}' }, ['a']],
		['JSON text', { body: ' {"id":417,"status":"completed"}' }, ['417']],
		['JSON lines', { body: '{"event":"done"}\r\n{"scrapeId":"a1"}\r\n\r\n' }, ['a1']],
		['JSON text of a list', { body: '[{"id":"ab"},{"id":"cd"}]' }, ['ab', 'cd']],
		['a list of IDs', { body: { scrapeIds: ['a1', 'b'] } }, ['a1', 'b']],
		['an object with number keys', { body: { scrapeIds: { 0: 'a1', 1: 'b' } } }, ['a1', 'b']],
		['a list of numbers', { body: { data: { scrape_ids: [41, 7] } } }, ['41', '7']],
		['a list of jobs', { body: { jobs: ['a1', 'b'] } }, ['a1', 'b']],
		['the name __proto__', { body: JSON.parse('{"__proto__":{"scrapeId":"a1"}}') }, ['a1']],
		['the value __proto__', { body: { scrapeId: '__proto__' } }, ['__proto__']],
		['a callback URL', { query: { leadgen: 'a1', id: 'b' } }, ['b']],
	])('are found in %s', (_what, request, expected) => {
		expect(idsIn(request).likely).toEqual(expected);
	});

	test('have a name that fits, or that of another ID', () => {
		expect(idsIn({ body: { userId: 'u1', taskId: 7 } })).toEqual({
			likely: [],
			others: ['u1', '7'],
		});
	});

	test.each([
		...['a\nb', 'a\r', '\u001b[31ma', 'a<b', 'a>b', 'a\u0000', 'a\u0085b', 'a\u2028b', 'a\u2029'],
		...['\u202ea', 'a\u2066', 'a\u200bb', '\ufeffa', '\ud800', '', 'x'.repeat(201)],
	])('are none if they could forge a line or a link: %j', (scrapeId) => {
		const ids = [{ scrapeId }, { id: [scrapeId] }, { userId: scrapeId }].map((body) =>
			idsIn({ body }),
		);
		expect(ids).toEqual(new Array(3).fill({ likely: [], others: [] }));
		const inText = Object.values(idsIn({ body: `scrapeId="${scrapeId}"` })).flat();
		expect(inText).not.toContain(scrapeId);
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
	});

	test('are found behind the leads of a JSON text', () => {
		const long = Array.from({ length: 60 }, () => ({
			title: 'Head of Sales and much else'.repeat(4),
		}));
		const body = JSON.stringify({ leads: long, scrapeId: 'scr_9f2c' });
		expect(idsIn({ body }).likely).toEqual(['scr_9f2c']);
	});

	test('are few and short in any body', () => {
		fc.assert(
			fc.property(fc.anything(), fc.dictionary(fc.string(), fc.string()), (body, query) => {
				const { likely, others } = idsIn({ body, query });
				const isShort = (id: string) => id.length > 0 && id.length <= 200;
				return likely.length <= 100 && others.length <= 5 && [...likely, ...others].every(isShort);
			}),
		);
	});
});

describe('the leads of a notification', () => {
	test.each<[string, unknown, unknown]>([
		['leads', { leads }, leads],
		['a general name', { data: { scrape: { id: 1 }, results: leads } }, leads],
		['a list alone', [{ a: 1 }, { a: 2 }, { a: 3 }], [{ a: 1 }, { a: 2 }, { a: 3 }]],
		['leads beside a longer list', { sources: [{ s: 1 }, { s: 2 }, { s: 3 }], leads: A }, A],
		['any list of objects', { unknown: leads, tags: ['x', 'y', 'z'] }, leads],
		['leads beside data', { data: [{ s: 1 }, { s: 2 }], leads: A }, A],
		['one message', [{ event: 'done', leads }], leads],
		['a list of messages', [{ type: 'event' }, { leads }], leads],
		['a list with null', { leads: [{ a: 1 }, null, { a: 2 }] }, [{ a: 1 }, { a: 2 }]],
		['leads with contacts', { leads: [ONE] }, [ONE]],
		[
			'a lead with a scrape ID',
			{ leads: [{ scrapeId: 'a', ...ONE }] },
			[{ scrapeId: 'a', ...ONE }],
		],
		[
			'data with contacts',
			{ scrapeId: 'a', data: [ONE, { id: 'b', ...ONE }] },
			[ONE, { id: 'b', ...ONE }],
		],
		['JSON in a field', { scrapeId: 'a', leads: JSON.stringify(leads) }, leads],
		['JSON text', JSON.stringify({ scrapeId: 'a', data: { leads } }), leads],
		['JSON in JSON', { payload: JSON.stringify({ leads: JSON.stringify(leads) }) }, leads],
		[
			'a list of texts',
			{ leads: ['a@example.com', 'b@example.com'] },
			['a@example.com', 'b@example.com'],
		],
		[
			'XML with one lead',
			{ scrape: { id: 'a', leads: { lead: { id: 'l', b: 2 } } } },
			[{ id: 'l', b: 2 }],
		],
		['XML with two leads', { leads: { lead: leads } }, leads],
		['number keys', { leads: { 0: leads[0], 1: leads[1] } }, leads],
		['number keys with a gap', { data: { leads: { 3: leads[0], 7: leads[1] } } }, leads],
		['number keys alone', { 0: leads[0], 1: leads[1] }, leads],
		['JSON lines', leads.map((lead) => JSON.stringify(lead)).join('\n'), leads],
		['fields', { scrapeId: 'a', 'leads[0][name]': 'Ada', 'leads[1][name]': 'Bob' }, leads],
		['fields of objects', { 'data[leads][0].name': 'Ada', 'data[leads][1].name': 'Bob' }, leads],
		['fields of texts', { 'leads[]': ['a', 'b'] }, ['a', 'b']],
		[
			'fields with __proto__',
			{ 'leads[0][__proto__]': 'x', 'leads[0][name]': 'Ada' },
			[JSON.parse('{"__proto__":"x","name":"Ada"}')],
		],
		['an ID of something else', { scrape: { id: 'a' }, account: { id: 'c' }, leads }, leads],
		['nothing', undefined, undefined],
		['null', null, undefined],
		['a text', 'text', undefined],
		['lines that are no JSON', '{"a":1}\n{"a":', undefined],
		['a number', { scrapeId: 'a', leads: 5 }, undefined],
		['no leads', { leads: [], warnings: [{ w: 1 }] }, undefined],
		['errors', { scrapeId: 'a', status: 'failed', errors: [{ message: 'no' }] }, undefined],
	])('are found in %s', (_what, body, expected) => {
		const found = leadsIn(body);
		// The prototype of objects does not matter.
		const plain = (value: unknown) =>
			value === undefined ? value : (JSON.parse(JSON.stringify(value)) as unknown);
		expect(plain(found('a'))).toEqual(plain(expected));
		expect(plain(found())).toEqual(plain(expected));
	});

	test('are those beside the ID, if it names several scrapes', () => {
		const all: Record<string, unknown[]> = { 1: A, 22: B, c: ['c', 'c'] };
		const scrapes = Object.entries(all).map(([scrapeId, list]) => ({ scrapeId, leads: list }));
		const [first, second, third] = scrapes;
		const nested = scrapes.map(({ scrapeId, ...data }) => ({ scrapeId, data }));
		const bodies = [
			scrapes,
			{ event: 'done', scrapes },
			JSON.stringify({ data: { scrapes } }),
			{ scrapes: JSON.stringify(scrapes) },
			scrapes.map((scrape) => JSON.stringify(scrape)).join('\n'),
			{ first, second: { data: second }, third: [third] },
			{ scrapes: scrapes.map((data) => ({ data })) },
			{ scrapes: nested },
			{ scrapes: { 0: scrapes[0], 1: scrapes[1], 2: scrapes[2] } },
			{
				jobs: scrapes.map(({ scrapeId, leads: list }) => ({
					id: scrapeId.toUpperCase(),
					leads: list,
				})),
			},
			{ scrapes: Object.fromEntries(nested.map(({ scrapeId, data }) => [scrapeId, data])) },
		];
		for (const body of bodies) {
			expect(Object.keys(all).map(leadsIn(body))).toEqual(Object.values(all));
		}
	});

	test('are not those of another scrape', () => {
		const failed = { scrapeId: 'a', status: 'failed' };
		const other = { scrapeId: 'b', status: 'completed', leads: B };
		for (const body of [
			[failed, other],
			{ first: failed, second: other },
			{ jobs: [other, failed] },
		]) {
			expect([leadsIn(body)('a'), leadsIn(body)('b')]).toEqual([undefined, B]);
		}
	});
});

describe('a body', () => {
	const json = JSON.stringify({ scrapeId: 'a=1', leads: [{ name: 'Ada & Bob = 2' }] });
	const long = Array.from(
		{ length: 700 },
		(_, at) => `leads[${String(at)}][name]=a&leads[${String(at)}][job]=b`,
	).join('&');

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
		const { body } = requestWith(type, text);
		expect(JSON.parse(JSON.stringify(body))).toEqual(expected);
	});

	test('comes without secrets', () => {
		const secret = 'ab'.repeat(32);
		const url = `https://n8n.example.com/webhook/1/leadgen?leadgen=a1.${secret}`;
		const request = {
			...requestWith(JSON_TYPE, JSON.stringify({ url, upper: [url.toUpperCase()] })),
			headers: {
				Authorization: 'Bearer x',
				cookie: 'y',
				'x-leadgen-signature': 'z',
				'x-event': 'e',
				via: url,
			},
			query: { leadgen: `a1.${secret}`, a: '1', next: url },
		};
		expect(rawNotification(request, secret)).toEqual({
			method: 'POST',
			headers: { 'x-event': 'e', via: url.replace(secret, '***') },
			query: { a: '1', next: url.replace(secret, '***') },
			body: {
				url: url.replace(secret, '***'),
				upper: [url.toUpperCase().replace(secret.toUpperCase(), '***')],
			},
		});
	});

	test('that is too deep to be saved is left out', () => {
		const deep = '['.repeat(20_000) + ']'.repeat(20_000);
		for (const secret of ['', 'ab'.repeat(32)]) {
			const raw = rawNotification(
				requestWith(JSON_TYPE, `{"scrapeId":"a","leads":[${deep}]}`),
				secret,
			);
			expect(raw.body).toBeNull();
			expect(leadsIn(raw.body)('a')).toBeUndefined();
		}
	});
});

describe('the search is bounded', () => {
	/** Counts the texts that are parsed, and what is read of a list or an object. */
	function counted(search: (watch: <T extends object>(body: T) => T) => void) {
		let reads = 0;
		const parsing = jest.spyOn(JSON, 'parse');
		search((body) => new Proxy(body, { get: (...of) => (reads++, Reflect.get(...of) as unknown) }));
		const parsed = parsing.mock.calls.length;
		parsing.mockRestore();
		return { reads, parsed };
	}

	test('in lists of texts that look like JSON', () => {
		const body = Array.from({ length: 100 }, () => new Array<string>(2000).fill('['));
		const { parsed } = counted(() => {
			expect(entriesOf(body)).toHaveLength(20_000);
		});
		expect(parsed).toBeLessThanOrEqual(100);
		// Four million characters at most.
		const long = new Array<string>(50).fill(`["${'x'.repeat(1_000_000)}"]`);
		expect(counted(() => entriesOf(long)).parsed).toBeLessThanOrEqual(4);
	});

	test('in millions of lists', () => {
		const { reads } = counted((watch) => {
			expect(entriesOf(watch(new Array<unknown>(5_000_000).fill([])))).toHaveLength(20_000);
		});
		expect(reads).toBeLessThan(20_100);
	});

	test('in lines', () => {
		const broken = ['{\n'.repeat(90_000), `{${'\n'.repeat(5_000_000)}`, '{}\n'.repeat(100_001)];
		const parsed = broken.map((text) => {
			return counted(() => {
				expect(meantBody(text)).toBe(text);
			}).parsed;
		});
		expect(parsed).toEqual([2, 2, 100_002]);
	});

	test('in names of fields', () => {
		const long = { ['a[b'.repeat(1_000_000)]: '1', [`c${'[d]'.repeat(100_000)}`]: '2' };
		expect(entriesOf(meantBody(long)).length).toBeLessThan(50);
		expect(idsIn({ body: long })).toEqual({ likely: [], others: [] });
	});

	test('for many scrapes, by reading the body once', () => {
		const list = [{ name: 'Ada', more: 'x'.repeat(120) }];
		const scrapes = Array.from({ length: 1200 }, (_, at) => ({
			scrapeId: `s${String(at)}`,
			leads: list,
		}));
		expect(JSON.stringify(scrapes).length).toBeGreaterThan(186_000);
		let find = leadsIn(undefined);
		counted((watch) => (find = leadsIn(watch(scrapes))));
		const each = counted(() => {
			for (const { scrapeId } of scrapes.slice(0, 100)) expect(find(scrapeId)).toEqual(list);
		});
		expect(each).toEqual({ reads: 0, parsed: 0 });
	});

	test('in objects that are nested deeply beside leads', () => {
		const body = JSON.parse(
			`[{"leads":[],"a":${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}}]`,
		) as unknown;
		expect(entriesOf(body)).toHaveLength(20_000);
		expect(leadsIn(body)('a')).toBeUndefined();
	});
});
