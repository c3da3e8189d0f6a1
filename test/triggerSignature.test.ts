import fc from 'fast-check';
import { CALLBACK, mayBeSigned, Signer } from '../nodes/LeadGen/trigger/signature';

const identity = { workflowId: 'w1', nodeId: 'n1' };
const signer = new Signer({ apiKey: 'a' }, identity);
const NODE_URL = 'https://n8n.example.com/webhook/1/leadgen';
/** As `leader.ts` makes them: of an activation, and of a schedule. */
const ATTEMPTS = ['a0123456789abcdef0123456789abcdef', 's1z141z3', 'test'];

test.each<[string, (url: string) => string]>([
	['as it is', (url) => url],
	['with another question mark', (url) => `${url}?status=completed`],
	['with a second question mark before it', (url) => url.replace('?', '?a=1?')],
	['with a signature of the service', (url) => `${url}&signature=${'0'.repeat(64)}`],
	['with many hashes of the service', (url) => `${`a.${'0'.repeat(64)} `.repeat(400)}${url}`],
	['percent-encoded', (url) => `/webhook/1/leadgen?to=${encodeURIComponent(url)}`],
	['double-encoded', (url) => encodeURIComponent(encodeURIComponent(url))],
	['encoded again and again', (url) => [1, 2, 3, 4].reduce(encodeURIComponent, url)],
	['encoded, dots too', (url) => encodeURIComponent(url).replaceAll('.', '%2E')],
	['encoded beside what cannot be decoded', (url) => `?x=%E4&u=${encodeURIComponent(url)}`],
	['in upper case', (url) => url.toUpperCase()],
	['in upper case and encoded', (url) => encodeURIComponent(url).toUpperCase()],
	['in a header or a body', (url) => `/webhook/1/leadgen\nagent\n{"callback":"${url}"}`],
	['in JSON with slashes escaped', (url) => JSON.stringify({ url }).replaceAll('/', '\\/')],
	['in JSON with all escaped', (url) => url.replace('=', '\\u003d').replaceAll('.', '\\u002e')],
	['in JSON in JSON', (url) => JSON.stringify(JSON.stringify({ url }))],
	['in quoted-printable text', (url) => url.replaceAll('=', '=3D')],
	['without its name', (url) => new URL(url).search.replace('?leadgen=', '')],
])('a callback URL is accepted %s', (_what, change) => {
	for (const attempt of ATTEMPTS) {
		const text = change(signer.callbackUrl(NODE_URL, attempt));
		expect([mayBeSigned(text), signer.attemptIn(text)]).toEqual([true, attempt]);
	}
});

test.each<[string, (url: string) => string, boolean?]>([
	['cut short', (url) => url.slice(0, -1)],
	['cut and encoded', (url) => encodeURIComponent(url.slice(0, -1))],
	['with a longer signature', (url) => `${url}0`],
	['with another attempt', (url) => url.replace('leadgen=a', 'leadgen=b')],
	['with more before the attempt', (url) => url.replace('leadgen=', 'leadgen=x')],
	['with another signature', (url) => url.replace(/.$/, (last) => (last === '0' ? '1' : '0'))],
	['without a signature', (url) => url.replace(/\..{64}$/, '')],
])('a callback URL is refused %s, and seen to be one', (_what, change) => {
	const text = change(signer.callbackUrl(NODE_URL, ATTEMPTS[0] ?? ''));
	expect([signer.attemptIn(text), CALLBACK.test(text)]).toEqual([undefined, true]);
});

test('a signature is another one for each key, workflow, node, purpose and value', () => {
	const signers = [
		signer,
		new Signer({ apiKey: 'b' }, identity),
		new Signer({ apiKey: 'a' }, { ...identity, workflowId: 'w2' }),
		new Signer({ apiKey: 'a' }, { ...identity, nodeId: 'n2' }),
	];
	const url = signer.callbackUrl(NODE_URL, 'a1');
	expect(signers.map((each) => each.attemptIn(url))).toEqual(['a1', ...new Array<undefined>(3)]);
	const values = [['1', '2'], ['12'], ['2'], ['2', '1'], ['']];
	const all = signers.flatMap((each) =>
		values.flatMap((value) => [each.sign('a', ...value), each.sign('b', ...value)]),
	);
	expect(new Set(all).size).toBe(40);
	expect(new Signer({ apiKey: 'a\n' }, identity).attemptIn(url)).toBe('a1');
	expect(() => new Signer({ apiKey: ' ' }, identity)).toThrow('API Key');
});

test('nothing else is signed', () => {
	fc.assert(fc.property(fc.anything(), (given) => !signer.isSigned(given, 'message')));
	const isSigned = jest.spyOn(signer, 'isSigned');
	expect(signer.attemptIn(`a.${'0'.repeat(64)} `.repeat(10_000))).toBeUndefined();
	expect(isSigned).toHaveBeenCalledTimes(500);
});
