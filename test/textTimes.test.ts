/** No text holds up n8n: the time of every rule grows with the length of the text, and not with its square. */
import * as addresses from '../nodes/LeadGen/common/addresses';
import { readFilters } from '../nodes/LeadGen/common/filters';
import * as json from '../nodes/LeadGen/common/json';
import * as names from '../nodes/LeadGen/common/names';
import { Parameters } from '../nodes/LeadGen/common/parameters';
import * as values from '../nodes/LeadGen/common/values';
import * as codes from '../nodes/LeadGen/service/answer';

const LENGTH = 4000;
/** Twice the time for twice the length; the square would be four times. */
const MOST = 3;
/** The square of the length, in steps of a nanosecond, takes sixteen times as long. */
const LEAST_MS = 1;

type Rule = (text: string) => unknown;
const companySize: Rule = (text) => {
	const raw: Record<string, unknown> = { filtersMode: 'fields', filters: { companySize: text } };
	return readFilters(new Parameters((name) => raw[name] ?? 1));
};
const named = (rules: Record<string, (text: string, field: string) => unknown>) =>
	Object.entries(rules).map(([name, rule]): [string, Rule] => [
		name,
		(text) => rule(text, 'Field'),
	]);

const { cleanText, toText, toName, toWords, toList, entriesOf, saysNone } = values;
const RULES: Array<[string, Rule]> = [
	...named({ cleanText, toText, toName, toWords, toList, entriesOf }),
	...named({ saysNone, show: values.show, ...addresses }),
	...named({ plainName: names.plainName, splitName: names.splitName }),
	...named({ numberIn: json.numberIn, wordIn: json.wordIn, jsonIn: json.jsonIn }),
	...named({ documentedCode: codes.documentedCode, excerpt: codes.excerpt }),
	['companySize', companySize],
];

/** What a rule may search for again and again. */
const WORDS =
	'[object {{ {a <a [a (a " \' &#1 &a # = %20 \\" \\ a A aA Ã é 🚀 a. .a a- . - _ , | • * … x 0 1 1. 1e 12- a@ @ ? a? / // : ab: http:// www. .com https://linkedin.com/in/ =/in/a null. null, %a nom profile [1, ["a", {"a": NaN,';
const UNITS = [
	...WORDS.split(' '),
	...[' ', '\t', ' \t', '\u200b', 'a\u200d', '\r\n', ' "a', ' | ', '• ', ', ', 'A.B., ', 'Ab,'],
	...['dr. ', 'van ', 'II ', 'A ', 'I. ', 'Aa ', 'null ', 'not ', 'e-mail ', ' - ', '1'.repeat(16)],
	...['\\u0041', '%73', '\\\\\\s', ':  ', 'sk-', '\n'],
];
const SHAPES: Array<(body: string) => string> = [
	(body) => body,
	(body) => `a@${body}`,
	(body) => `${body}@a.com`,
	(body) => `https://${body}`,
	(body) => `https://a.com/${body}`,
	(body) => `A, ${body}b`,
	(body) => `{"a":"${body}`,
	(body) => `A${body}Z`,
];

/** A text that is about so long. It ends in a whole unit, so that texts of all lengths are of the same kind. */
function textOf(unit: string, shape: (body: string) => string, length: number): string {
	return shape(unit.repeat(length / unit.length));
}

/** The processor time of a rule in milliseconds, which counts nothing that other programs do. */
function timeOf(rule: Rule, text: string): number {
	const began = process.cpuUsage();
	try {
		rule(text);
	} catch {
		// To refuse a text takes time, too.
	}
	const { user, system } = process.cpuUsage(began);
	return (user + system) / 1000;
}

/** How much longer the rule takes for the whole text than for half of it, side by side, at the quietest moments. */
function ratioOf(rule: Rule, whole: string, half: string): number {
	let [longer, shorter] = [Infinity, Infinity];
	for (let round = 0; round < 5 || (round < 100 && longer / shorter > MOST); round++) {
		longer = Math.min(longer, timeOf(rule, whole));
		shorter = Math.min(shorter, timeOf(rule, half));
	}
	// The clock is too coarse to compare less.
	return longer < LEAST_MS ? 1 : longer / shorter;
}

test.each(RULES)('%s', (_name, rule) => {
	const texts = UNITS.flatMap((unit) => SHAPES.map((shape) => ({ unit, shape })));
	const slow = texts.filter(({ unit, shape }) => {
		const text = textOf(unit, shape, LENGTH);
		// The first time it is compiled.
		return timeOf(rule, text) >= LEAST_MS && timeOf(rule, text) >= LEAST_MS;
	});
	const tooSlow = slow.find(({ unit, shape }) => {
		const [whole, half] = [textOf(unit, shape, LENGTH), textOf(unit, shape, LENGTH / 2)];
		return ratioOf(rule, whole, half) > MOST;
	});
	expect(tooSlow?.shape(tooSlow.unit)).toBeUndefined();
});
