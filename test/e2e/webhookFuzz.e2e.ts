import { connect, type Socket } from 'node:net';
import * as fc from 'fast-check';
import type { StoredWorkflow } from '../../lab/playground/api';
import { quiet, until } from '../../lab/fixture/fixture';
import { useN8n } from './n8n';

/* Thousands of requests of strangers to the production URLs of a real n8n. They take minutes, so CI runs them at night. */

const sockets: Socket[] = [];
let isOver = false;
// Before n8n ends.
afterAll(() => {
	isOver = true;
	for (const socket of sockets) socket.destroy();
});
const fixture = useN8n();

/** n8n answers between 25 and 200 a second, depending on the machine. */
const REQUESTS = 2000;
const AT_ONCE = 40;
const SLOW = 20;

/** A workflow under attack. */
interface Target {
	workflow: StoredWorkflow;
	url: string;
	/** Of the URL that the service was given. */
	attempt: string;
	signature: string;
}

const forgedId = fc.oneof(
	fc.uuid(),
	fc.constantFrom(
		'scrape_forged',
		'__proto__',
		'../credits',
		'1e9',
		'a&b=c',
		'💥',
		'x'.repeat(300),
	),
);
const NAMES = 'scrapeId scrape_id id job data __proto__ constructor clock'.split(' ');
const name = fc.oneof(fc.constantFrom(...NAMES), fc.string());
const jsonText = fc
	.oneof(
		forgedId.map((scrapeId): unknown => ({ scrapeId, status: 'completed' })),
		fc.dictionary(name, fc.oneof(forgedId, fc.jsonValue())),
		fc.jsonValue(),
	)
	.map((value) => JSON.stringify(value));
const body = fc.oneof(
	jsonText,
	fc.tuple(jsonText, fc.nat(50)).map(([text, at]) => text.slice(0, at)),
	forgedId.map((id) => `scrapeId=${encodeURIComponent(id)}&status=completed`),
	fc.constant('--x\r\nContent-Disposition: form-data; name="scrapeId"\r\n\r\nx1\r\n--x--\r\n'),
	fc.string({ unit: 'binary', maxLength: 500 }),
);
/** But XML: n8n itself never answers some that it cannot parse, such as `<a></b>`, whatever the node. */
const type = fc.constantFrom(
	'application/json',
	'application/json; charset=utf-16',
	'application/x-www-form-urlencoded',
	'multipart/form-data',
	'multipart/form-data; boundary=x',
	'text/plain',
	'application/octet-stream',
	'nonsense',
);
const method = fc.constantFrom(...'POST POST PUT PATCH GET DELETE HEAD OPTIONS'.split(' '));

/** What looks like the signed part of the URL. test/triggerSignature.test.ts has more of them. */
function wrongSignature({ attempt, signature }: Target): fc.Arbitrary<string> {
	return fc.constantFrom(
		'',
		`leadgen=${attempt}.null`,
		`leadgen[]=${attempt}&leadgen[]=${signature}`,
		`leadgen=${attempt}.%00${signature}`,
		`leadgen=another.${signature}`,
		`leadgen=${'a.'.repeat(30)}${'.0123456789abcdef'.repeat(40)}`,
	);
}

/** A request, but for its address. */
interface Attack {
	method: string;
	type: string;
	body: string;
	query?: string;
	signature?: string;
}

function attack(target: Target): fc.Arbitrary<Attack> {
	const query = fc
		.tuple(wrongSignature(target), fc.webQueryParameters())
		.map((parts) => parts.filter(Boolean).join('&'));
	const signature = fc.constantFrom(undefined, target.signature, '', 'true', 'f'.repeat(64));
	return fc.record({ method, type, body, query, signature });
}

/** As large as n8n lets in, and larger. */
const LARGE: Array<[type: string, body: () => string]> = [
	['application/json', () => JSON.stringify({ big: 'x'.repeat(20_000_000) })],
	['application/json', () => `[${'{},'.repeat(5_000_000)}{}]`],
	['application/json', () => '['.repeat(7_000_000) + ']'.repeat(7_000_000)],
	['application/x-www-form-urlencoded', () => 'a[]=1&'.repeat(2_500_000)],
	['text/plain', () => 'id7 '.repeat(4_000_000)],
];

/** @returns the HTTP status of the answer; 0 if there was none */
async function send(url: string, { method, type, body, query = '', signature }: Attack) {
	const hasBody = method !== 'GET' && method !== 'HEAD';
	const signed = signature === undefined ? {} : { 'x-leadgen-signature': signature };
	try {
		const response = await fetch(`${url}?${query}`, {
			method,
			headers: { ...signed, 'content-type': type },
			body: hasBody ? body : undefined,
			signal: AbortSignal.timeout(60_000),
		});
		await response.arrayBuffer();
		return response.status;
	} catch {
		return 0;
	}
}

/** Sends the beginning of a request, and never its end. */
function sendSlowly(url: string): void {
	const { hostname, port, pathname } = new URL(url);
	const socket = connect(Number(port), hostname).on('error', () => {});
	sockets.push(socket);
	socket.write(
		`POST ${pathname} HTTP/1.1\r\nHost: ${hostname}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"scrapeId":`,
	);
}

async function activated(parameters: Record<string, unknown>): Promise<Target> {
	const workflow = await fixture.activated(parameters);
	const url = fixture.plainUrl(workflow);
	await until('its scrape', () => fixture.startsOf(workflow) === 1);
	const { webhookUrl = '' } = fixture.jobOf(workflow);
	const [, attempt = '', signature = ''] = /leadgen=(\w+)\.(\w+)$/.exec(webhookUrl) ?? [];
	return { workflow, url, attempt, signature };
}

it('answers every one, runs nothing, starts nothing, and lets real completions through once', async () => {
	// The service tries again until a completion is taken.
	const notification = { retries: 1000, backoffMs: 1000 };
	await fixture.reset({ job: { durationMs: 3_600_000 }, notification });
	const targets = [
		await activated({}),
		await activated({ filters: { jobTitles: ['CFO'] } }),
	] as const;
	const [first, second] = targets;
	const own = fixture.sandbox.jobs.map(({ scrapeId }) => scrapeId);
	expect(targets.map(({ signature }) => signature.length)).toEqual([64, 64]);
	const finish = (index: number) => {
		fixture.sandbox.finish(own[index] ?? '', 'completed');
	};

	const began = Date.now();
	targets.forEach(({ url }) => {
		for (let count = 0; count < SLOW; count++) sendSlowly(url);
	});
	const attacks = targets.map((target) =>
		fc.sample(attack(target), { numRuns: REQUESTS / 2, seed: 4711 }),
	);
	const answers = new Map<number, number>();
	const attackWith = async (target: Target, request: Attack) => {
		const status = await send(target.url, request);
		answers.set(status, (answers.get(status) ?? 0) + 1);
	};
	let sent = 0;
	const attacker = async () => {
		while (sent < REQUESTS && !isOver) {
			const index = sent++;
			const target = index % 2 === 0 ? first : second;
			const request = attacks[index % 2]?.[Math.floor(index / 2)];
			if (request) await attackWith(target, request);
			if (index === REQUESTS / 2) finish(0);
		}
	};
	await Promise.all(Array.from({ length: AT_ONCE }, attacker));
	// The scrape of the first one is over.
	for (const [type, body] of LARGE) {
		await attackWith(second, { method: 'POST', type, body: body() });
	}
	finish(1);

	const ranFor = async () =>
		await Promise.all(
			targets.map(async ({ workflow }) => (await fixture.scrapesOf(workflow.id)).sort()),
		);
	await until('each completion', async () => (await ranFor()).flat().length >= 2, 480_000);
	const over = Date.now();
	await quiet(5000);

	expect(await ranFor()).toEqual([[own[0]], [own[1]]]);
	for (const { workflow } of targets) expect(await fixture.told(workflow.id)).toEqual([]);
	const counts = targets.map(
		async ({ workflow }) => (await fixture.executions(workflow.id)).length,
	);
	// A start and a completion each.
	expect(await Promise.all(counts)).toEqual([2, 2]);
	expect(fixture.starts).toBe(2);

	const answered = [...answers.values()].reduce((sum, count) => sum + count, 0);
	expect(answered).toBe(REQUESTS + LARGE.length);
	expect([...answers.keys()].filter((status) => status < 200 || status > 599)).toEqual([]);

	const lookups = fixture.sandbox.requests.filter(
		({ operation }) => operation === 'getScrapeStatus',
	);
	// The node polls every five seconds at most, and once more when it is notified.
	const seconds = (over - began) / 1000;
	expect(lookups.length).toBeLessThanOrEqual(own.length * (seconds / 5 + 4));
}, 900_000);
