import fc from 'fast-check';
import { fingerprint, isCallback, Signer } from '../nodes/LeadGen/trigger/signature';

const signer = new Signer({ apiKey: 'a' }, 'node 1');
const NODE_URL = 'https://n8n.example.com/webhook/1/leadgen';
/** Of an activation, of a schedule, and of a test run. */
const ATTEMPTS = ['a0123456789abcdef', 's202610250180americaargentinabuenosaires', 'test0'];

test.each<[string, (url: string) => string]>([
	['as it is', (url) => url],
	['with another question mark', (url) => `${url}?status=completed`],
	['with a second question mark before it', (url) => url.replace('?', '?a=1?')],
	['with other parameters around it', (url) => `${url.replace('?', '?a=1&')}&b=2`],
	['with a signature of the service', (url) => `${url}&signature=${'0'.repeat(64)}`],
	['percent-encoded', (url) => `/webhook/1/leadgen?to=${encodeURIComponent(url)}`],
	['encoded again and again', (url) => [1, 2, 3, 4].reduce(encodeURIComponent, url)],
	['encoded, dots too', (url) => encodeURIComponent(url).replaceAll('.', '%2E')],
	['encoded twice, dots too', (url) => encodeURIComponent(url).replaceAll('.', '%252e')],
	['encoded beside what cannot be decoded', (url) => `?x=%E4&u=${encodeURIComponent(url)}`],
	['in upper case and encoded', (url) => encodeURIComponent(url).toUpperCase()],
])('a callback URL is accepted %s', (_what, change) => {
	for (const attempt of ATTEMPTS) {
		const url = change(signer.callbackUrl(NODE_URL, attempt));
		expect([isCallback(url), signer.attemptIn(url)]).toEqual([true, attempt]);
	}
});

test.each<[string, (url: string) => string]>([
	['cut short', (url) => url.slice(0, -1)],
	['cut and encoded', (url) => encodeURIComponent(url.slice(0, -1))],
	['with a longer signature', (url) => `${url}0`],
	['with another attempt', (url) => url.replace('leadgen=a', 'leadgen=b')],
	['with more before the attempt', (url) => url.replace('leadgen=', 'leadgen=x')],
	['with another signature', (url) => url.replace(/.$/, (last) => (last === '0' ? '1' : '0'))],
	['without a signature', (url) => url.replace(/\..{64}$/, '')],
])('a callback URL is refused %s, and seen to be one', (_what, change) => {
	const url = change(signer.callbackUrl(NODE_URL, ATTEMPTS[0] ?? ''));
	expect([signer.attemptIn(url), isCallback(url)]).toEqual([undefined, true]);
});

test('a signature is another one for each key, node, purpose and value', () => {
	const signers = [
		signer,
		new Signer({ apiKey: 'b' }, 'node 1'),
		new Signer({ apiKey: 'a' }, 'node 2'),
	];
	const url = signer.callbackUrl(NODE_URL, 'a1');
	expect(signers.map((each) => each.attemptIn(url))).toEqual(['a1', undefined, undefined]);
	const values = [['1', '2'], ['12'], ['2'], ['2', '1'], ['']];
	const all = signers.flatMap((each) =>
		values.flatMap((value) => [each.sign('a', ...value), each.sign('b', ...value)]),
	);
	expect(new Set(all).size).toBe(30);
	expect(new Signer({ apiKey: 'a\n' }, 'node 1').attemptIn(url)).toBe('a1');
	expect(() => new Signer({ apiKey: ' ' }, 'node 1')).toThrow('API Key');
});

test('each of many values has a short hash of its own', () => {
	const hashes = Array.from({ length: 5000 }, (_, at) => fingerprint(at));
	expect(new Set(hashes).size).toBe(5000);
});

test('nothing else is signed', () => {
	fc.assert(fc.property(fc.anything(), (given) => !signer.isSigned(given, 'message')));
	fc.assert(fc.property(fc.string(), (url) => signer.attemptIn(url) === undefined));
});
