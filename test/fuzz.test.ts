import fc from 'fast-check';
import { readFilters } from '../nodes/LeadGen/common/filters';
import { Parameters } from '../nodes/LeadGen/common/parameters';
import { readEnvelope } from '../nodes/LeadGen/service/answer';
import { InputError } from '../nodes/LeadGen/common/errors';
import { readRateHeaders } from '../nodes/LeadGen/service/limits/announced';
import type { ServiceRequest } from '../nodes/LeadGen/service/request';
import { toAddress, toDomain, toUrl } from '../nodes/LeadGen/common/addresses';
import { cleanText } from '../nodes/LeadGen/common/values';
import { someText } from './expected';

/** Any JSON, also with keys that have a meaning in JavaScript, and texts that look like something else. */
const json = fc.oneof(
	fc.jsonValue(),
	fc.dictionary(
		fc.constantFrom('success', 'data', 'error', 'code', 'message', '__proto__', 'constructor'),
		fc.oneof(fc.jsonValue(), fc.dictionary(fc.constantFrom('code', 'message'), fc.jsonValue())),
	),
);
const text = fc.oneof(
	fc.string({ unit: 'binary' }),
	fc.string({ unit: 'grapheme' }),
	fc.webUrl({ withQueryParameters: true }),
	fc.emailAddress(),
	fc.domain(),
	fc.ipV6(),
);
const verify: ServiceRequest = { kind: 'lookup', path: '/email/verify', body: {} };

/** What a reader gives, or the complaint that a person can do something about. */
function attempt<T>(read: () => T): T | InputError {
	try {
		return read();
	} catch (error) {
		if (error instanceof InputError) return error;
		throw error;
	}
}

describe('Whatever comes in', () => {
	test('an answer of the service is data or an error that says what is known of the call', () => {
		const body = fc.oneof(
			json.map((value) => JSON.stringify(value)),
			json.map((value) => JSON.stringify(value).slice(0, -1)),
			fc.string({ unit: 'binary' }),
		);
		fc.assert(
			fc.property(body, fc.integer({ min: 200, max: 599 }), (answer, status) => {
				const read = readEnvelope({ status, headers: {}, text: answer }, verify);
				if ('data' in read) {
					const { data } = JSON.parse(answer) as { data: unknown };
					expect([status < 300, read.data]).toEqual([true, Array.isArray(data) ? null : data]);
					return;
				}
				const { message, advice, outcome, code } = read.error;
				expect([message, advice]).toEqual([someText, someText]);
				// What a server that broke down may have done may be paid for.
				const isKnown = status < 500 || code === 'RATE_LIMIT_EXCEEDED';
				expect(outcome).toMatch(isKnown ? /refused|unknown/ : /unknown/);
			}),
			{ numRuns: 2000 },
		);
	});

	test('what headers say of the rate is a number that can be waited for, or nothing', () => {
		const names = [
			...['retry-after', 'ratelimit', 'ratelimit-remaining', 'ratelimit-reset'],
			...['x-ratelimit-remaining', 'x-ratelimit-reset'],
		];
		const value = fc.oneof(
			fc.string(),
			fc.integer().map(String),
			fc.double().map(String),
			fc.date({ noInvalidDate: false }).map(String),
			fc.constantFrom('r=5;t=30', 'limit=60, remaining=0, reset=12', '1e400', '-1', 'NaN'),
			fc.array(fc.string()),
		);
		fc.assert(
			fc.property(fc.dictionary(fc.constantFrom(...names), value), (headers) => {
				const news = readRateHeaders({ status: 200, headers, text: '' }, Date.UTC(2030, 0, 1));
				const numbers = Object.values(news).filter((value) => value !== undefined);
				expect(numbers.filter((number) => !(number >= 0 && number < Infinity))).toEqual([]);
			}),
			{ numRuns: 2000 },
		);
	});

	test('a domain, address or web address is brought to its form once and for all, or refused by name', () => {
		fc.assert(
			fc.property(text, (given) => {
				for (const clean of [toDomain, toAddress, toUrl]) {
					const cleaned = attempt(() => clean(cleanText(given, 'Field'), 'Field'));
					if (cleaned instanceof InputError) {
						expect(cleaned.message).toMatch(/^Field /);
						continue;
					}
					expect(cleaned).not.toMatch(/\s/);
					expect(clean(cleanText(cleaned, 'Field'), 'Field')).toBe(cleaned);
				}
				const domain = attempt(() => toDomain(cleanText(given, 'Field'), 'Field'));
				if (!(domain instanceof InputError)) expect(domain).toMatch(/^[^/?#@:]+\.[^/?#@:]+$/);
			}),
			{ numRuns: 5000 },
		);
	});

	test('filters are lists of texts and a range, or refused by name; nothing else is sent', () => {
		const value = fc.oneof(json, fc.array(fc.string()), fc.string());
		const fields = { jobTitles: value, locations: value, industries: value, companySize: value };
		const filters = fc.oneof(value, fc.record(fields, { requiredKeys: [] }));
		fc.assert(
			fc.property(filters, fc.constantFrom('fields', 'json'), value, (given, mode, limit) => {
				const both = { filters: given, filtersJson: given };
				const raw: Record<string, unknown> = { filtersMode: mode, ...both, limit };
				const read = attempt(() => readFilters(new Parameters((name) => raw[name])));
				if (read instanceof InputError) return;
				// Without filters anyone is a lead, and is paid for.
				const meant: unknown = typeof given === 'string' ? JSON.parse(given) : given;
				expect(meant).toEqual(expect.any(Object));
				const { companySize = '1-2', limit: leads, ...lists } = read;
				expect(Number.isInteger(leads)).toBe(true);
				expect(companySize).toMatch(/^\d+-\d+$/);
				for (const [name, list] of Object.entries(lists)) {
					expect(['jobTitles', 'locations', 'industries']).toContain(name);
					expect(list).toEqual(expect.arrayContaining([expect.stringMatching(/\S/)]));
					for (const entry of list as unknown[]) expect(entry).toMatch(/^\S(.*\S)?$/s);
				}
			}),
			{ numRuns: 3000 },
		);
	});
});
