import { idIn, leadsIn, scrapeIdIn } from '../nodes/LeadGen/trigger/notification';

const nested = (depth: number, inner: object): object =>
	depth === 0 ? inner : { [`level${String(depth)}`]: nested(depth - 1, inner) };

test.each<[string, object, string | undefined]>([
	['a field of the body', { body: { scrapeId: 'a1', id: 'b' } }, 'a1'],
	['any spelling of its name', { body: { id: 'b', 'Scrape-Job-ID': 'a1' } }, 'a1'],
	['the data of an envelope', { body: { success: true, data: { scrape_id: 'a1' } } }, 'a1'],
	['four levels', { body: nested(3, { scrapeId: 'a1' }) }, 'a1'],
	['five levels', { body: nested(4, { scrapeId: 'a1' }) }, undefined],
	['the query, before the body', { query: { scrapeId: 'a1' }, body: { scrapeId: 'b' } }, 'a1'],
	['the body, before an id in the query', { query: { id: 'b' }, body: { scrapeId: 'a1' } }, 'a1'],
	['an id at two levels', { body: { scrape: { id: 'a1' }, leads: [{ id: 'l1' }] } }, 'a1'],
	['an id at three levels', { body: { data: { scrape: { id: 'a1' } } } }, undefined],
	['an id of a lead', { body: { data: { leads: [{ id: 'l1' }] } } }, undefined],
	['a job ID', { body: { job_id: 417 } }, '417'],
	['a number', { body: { scrapeId: 417 } }, '417'],
	['a list of messages', { body: [{ scrapeId: 'a1' }, { scrapeId: 'b' }] }, 'a1'],
	['text that is JSON', { body: '{"data":{"scrapeId":"a1"}}' }, 'a1'],
	['JSON inside a text of JSON', { body: { payload: '{"scrapeId":"a1"}' } }, undefined],
	['text', { body: 'scrape a1 is completed' }, undefined],
	['the name of another ID', { body: { userId: 'u1', webhook_id: 'w1' } }, undefined],
	['nothing', { body: null }, undefined],
])('the scrape ID of a notification is read from %s', (_what, notification, expected) => {
	expect(scrapeIdIn(notification)).toBe(expected);
});

test.each([
	...['a\nb', '\u001b[31ma', 'a<b', 'a>b', 'a\u0085b', 'a\u2028b', 'a\u2029', '\u202ea'],
	...['a\u200bb', '\ufeffa', '\ud800', '', 'x'.repeat(201), null, {}, true],
])('a value that could forge a line or a link, or is no text, is no scrape ID: %j', (value) => {
	expect([idIn(value), scrapeIdIn({ body: { scrapeId: value } })]).toEqual([undefined, undefined]);
});

const [ada, bob] = [{ name: 'Ada' }, { name: 'Bob' }];
const leads = [ada, bob];

test.each<[string, unknown, unknown[] | undefined]>([
	['a list with a usual name', { scrapeId: 'a1', leads }, leads],
	['the data of an envelope', { data: { people: leads } }, leads],
	['a list called data', { data: leads }, leads],
	['any spelling', { Contacts: leads }, leads],
	['the list that is less deep', { batch: { results: [ada] }, contacts: [bob] }, [bob]],
	['four levels', nested(3, { leads }), leads],
	['five levels', nested(4, { leads }), undefined],
	['a list that is the body', leads, leads],
	['a list of messages with leads', [{ scrapeId: 'a1', leads }], leads],
	['text that is JSON', JSON.stringify({ leads }), leads],
	['a list of texts', { leads: ['ada@acme.com'] }, undefined],
	['a list with a text', { leads: [ada, 'ada@acme.com'] }, undefined],
	['an empty list', { leads: [] }, undefined],
	['a list with another name', { events: leads, dataSources: leads }, undefined],
	['nothing', undefined, undefined],
])('the leads of a notification are found in %s', (_what, body, expected) => {
	expect(leadsIn({ body })).toEqual(expected);
});

test.each<[string, unknown[] | undefined]>([
	['batches[1].found', leads],
	['batches.0.found', ['ada@acme.com']],
	['batches', [{ found: ['ada@acme.com'] }, { found: leads }]],
	['batches.5.found', undefined],
	['constructor.name', undefined],
])('the leads of a notification are taken from the path %s', (path, expected) => {
	const body = { leads: [ada], batches: [{ found: ['ada@acme.com'] }, { found: leads }] };
	for (const each of [body, JSON.stringify(body)])
		expect(leadsIn({ body: each }, path)).toEqual(expected);
});

test('a search visits a bounded number of values, whatever strangers send', () => {
	const many = Array.from({ length: 1_000_000 }, (_, at) => ({ at }));
	const late = Object.fromEntries(
		[...Array(30_000).keys(), 'scrapeId'].map((name) => [name, 'a1']),
	);
	for (const body of [{ many }, late]) expect(scrapeIdIn({ body })).toBeUndefined();
	expect(leadsIn({ body: { many, leads } })).toBe(leads);
});
