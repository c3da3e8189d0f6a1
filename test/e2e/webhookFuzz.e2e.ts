import * as fc from 'fast-check';
import { quiet } from '../../lab/fixture/fixture';
import { useN8n } from './n8n';

/* Thousands of requests of strangers to the production URL of a real n8n. CI runs them at night. */

const fixture = useN8n();

/** n8n answers between 25 and 200 a second, depending on the machine. */
const REQUESTS = 2000;
const AT_ONCE = 40;

type Attack = Record<'method' | 'type' | 'body' | 'query', string>;

const forgedId = fc.oneof(
	fc.uuid(),
	fc.constantFrom('scrape_forged', '__proto__', '../credits', '1e9', 'a&b=c', 'x'.repeat(300)),
);
const jsonText = fc
	.oneof(
		forgedId.map((scrapeId): unknown => ({ scrapeId, status: 'completed' })),
		fc.dictionary(fc.constantFrom('scrapeId', 'id', 'data', '__proto__', 'clock'), fc.jsonValue()),
	)
	.map((value) => JSON.stringify(value));
// But XML: n8n itself never answers some that it cannot parse, such as `<a></b>`, whatever the node.
const type = fc.constantFrom(
	...['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'],
	...['text/plain', 'nonsense'],
);

/** @param signed the signed part of the URL that the service was given: what looks like it is forged */
function attack(signed: string): fc.Arbitrary<Attack> {
	const [attempt = '', signature = ''] = signed.split('.');
	return fc.record({
		method: fc.constantFrom('POST', 'PUT', 'PATCH', 'GET', 'DELETE', 'HEAD', 'OPTIONS'),
		type,
		body: fc.oneof(
			jsonText,
			fc.tuple(jsonText, fc.nat(50)).map(([text, at]) => text.slice(0, at)),
			forgedId.map((id) => `scrapeId=${encodeURIComponent(id)}&status=completed`),
			fc.string({ unit: 'binary', maxLength: 500 }),
		),
		query: fc.oneof(
			fc.constantFrom('', `${attempt}.null`, `${attempt}.%00${signature}`, `another.${signature}`),
			fc.webQueryParameters(),
		),
	});
}

/** As large as n8n lets in, and larger. */
const LARGE: Attack[] = [
	['application/json', JSON.stringify({ big: 'x'.repeat(20_000_000) })] as const,
	['application/json', '['.repeat(7_000_000) + ']'.repeat(7_000_000)] as const,
	['application/x-www-form-urlencoded', 'a[]=1&'.repeat(2_500_000)] as const,
].map(([type, body]) => ({ method: 'POST', type, body, query: '' }));

/** @throws if n8n does not answer */
async function send(url: string, { method, type, body, query }: Attack): Promise<void> {
	const response = await fetch(`${url}?leadgen=${query}`, {
		method,
		headers: { 'content-type': type },
		body: method === 'GET' || method === 'HEAD' ? undefined : body,
		signal: AbortSignal.timeout(60_000),
	});
	await response.arrayBuffer();
}

it('answers every one, runs nothing, starts nothing, and lets the real completion through once', async () => {
	// The service tries again until a completion is taken.
	const notification = { retryMs: 1000 };
	await fixture.reset({ job: { durationMs: 3_600_000 }, notification });
	const workflow = await fixture.activated();
	await fixture.untilStarts(1);
	const { scrapeId, webhookUrl = '' } = fixture.jobOf(workflow);
	const [, signed = ''] = /leadgen=(\w+\.\w{64})$/.exec(webhookUrl) ?? [];
	expect(signed).not.toBe('');

	const began = Date.now();
	const attacks = fc.sample(attack(signed), { numRuns: REQUESTS, seed: 4711 }).values();
	const attacker = async () => {
		for (const each of attacks) await send(fixture.plainUrl(workflow), each);
	};
	await Promise.all(Array.from({ length: AT_ONCE }, attacker));
	for (const each of LARGE) await send(fixture.plainUrl(workflow), each);

	fixture.finish(workflow);
	await fixture.untilRuns(workflow.id, 1);
	const seconds = (Date.now() - began) / 1000;
	await quiet(5000);
	expect(await fixture.scrapesOf(workflow.id)).toEqual([scrapeId]);
	expect(await fixture.told(workflow.id)).toEqual([]);
	// The start and the completion.
	expect(await fixture.executions(workflow.id)).toHaveLength(2);
	expect(fixture.starts).toBe(1);
	// The node polls every five seconds at most, and once more when it is notified.
	expect(fixture.count('getScrapeStatus')).toBeLessThanOrEqual(seconds / 5 + 4);
}, 900_000);
