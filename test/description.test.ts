/** What the editor, n8n's checks and npm get of the package. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import { inspect, isDeepStrictEqual } from 'node:util';
import { Linter, type ESLint } from 'eslint';
import { loadOutputSchema } from 'n8n-core';
import {
	NodeHelpers,
	Workflow,
	type IDataObject,
	type INode,
	type INodeParameters,
	type INodeProperties,
	type INodeType,
	type INodeTypeDescription,
} from 'n8n-workflow';
import { parser } from 'typescript-eslint';
import packageJson from '../package.json';
import { resources } from '../nodes/LeadGen/action/operations';
import { loadCredential, loadNode } from './engine';
import { containing, someText } from './expected';
import { keepGoing, people, person } from './given';
import { useService } from './service';

const ROOT = join(__dirname, '..');

/** The names of the nodes: their class files without the ending, in lower camel case. */
const NODES = packageJson.n8n.nodes.map((file) => {
	const name = basename(file, '.node.js');
	return name.charAt(0).toLowerCase() + name.slice(1);
});

/** The table of operations, one by one. */
const OPERATIONS = resources.flatMap(({ value: resource, operations }) =>
	operations.map(({ value: operation, name, action, split }) => ({
		resource,
		operation,
		name,
		action,
		split: split?.outputs.map((displayName) => ({ type: 'main', displayName })),
	})),
);

/** A property and where it is, for messages. */
interface Place {
	path: string;
	property: INodeProperties;
}

/** The properties and those inside collections. */
function everyProperty(properties: INodeProperties[], parent = ''): Place[] {
	return properties.flatMap((property) => {
		const path = `${parent}${property.name}`;
		return [{ path, property }, ...everyProperty(inside(property), `${path}.`)];
	});
}

/** The choices of a list, in their order. */
function choices(property: INodeProperties | undefined) {
	return (property?.options ?? []).flatMap((option) => ('value' in option ? [option] : []));
}

/** The properties inside a collection, in their order. */
function inside(property: INodeProperties | undefined): INodeProperties[] {
	return (property?.options ?? []).flatMap((option) =>
		'values' in option ? option.values : 'type' in option ? [option] : [],
	);
}

/**
 * What the editor shows for an operation, as n8n decides it: the fields, and the options that can be added.
 * @param parameters what the workflow saved; the rest has its default
 */
function shownOf(description: INodeTypeDescription, parameters: INodeParameters) {
	const { properties } = description;
	const values = NodeHelpers.getNodeParameters(
		...([properties, parameters, true, false, null, description] as const),
	);
	const root = values ?? {};
	const isShown = (property: INodeProperties) =>
		NodeHelpers.displayParameter(root, property, null, description, root);
	const others = ['resource', 'operation', 'options'];
	const fields = properties.filter(({ name }) => !others.includes(name)).filter(isShown);
	const collection = properties.find(({ name }) => name === 'options');
	return { fields, options: inside(collection).filter(isShown) };
}

/** All values of the other fields that decide what the editor shows, in turn. */
const CHOICES: INodeParameters[] = [
	{},
	{ nameFormat: 'full', tryPersonal: true },
	{ filtersMode: 'json' },
];

/** Every field and option that an operation can show. */
function everyFieldOf(description: INodeTypeDescription, resource: string, operation: string) {
	const all = CHOICES.flatMap((chosen) => {
		const { fields, options } = shownOf(description, { resource, operation, ...chosen });
		return [...fields, ...fields.flatMap(inside), ...options];
	});
	return [...new Set(all)].filter(({ type }) => type !== 'notice');
}

/** What n8n computes for a node that is alone in its workflow, with the defaults of its parameters. */
async function computed<T>(
	type: INodeType,
	parameters: INodeParameters,
	compute: (own: INode, workflow: Workflow) => T,
): Promise<T> {
	const own: INode = {
		...{ id: '1', name: 'LeadGen', type: 'leadGen', typeVersion: 1 },
		position: [0, 0],
		parameters,
	};
	const nodeTypes = {
		getByName: () => type,
		getByNameAndVersion: () => type,
		getKnownTypes: () => ({}),
	};
	const workflow = new Workflow({ nodes: [own], connections: {}, active: false, nodeTypes });
	return await workflow.expression.withIsolate(() => Promise.resolve(compute(own, workflow)));
}

/** As the editor evaluates it for the canvas. */
async function subtitleOf(type: INodeType, parameters: INodeParameters) {
	const { subtitle } = type.description;
	return await computed(type, parameters, (own, { expression }) =>
		expression.getSimpleParameterValue(own, subtitle, 'internal', {}),
	);
}

/** All that the editor shows of a property, beside its name: descriptions, hints, and the text of a notice. */
function textsOf(property: INodeProperties): string[] {
	const { type, displayName, description, hint, placeholder } = property;
	const listed = choices(property).map((choice) => choice.description);
	const notice = type === 'notice' ? displayName : undefined;
	return [description, ...listed, notice, hint, placeholder].filter((text) => text !== undefined);
}

/**
 * The names of parameters that a text mentions without single quotes around them. A single word counts only within a
 * sentence, because any sentence may begin with it.
 */
function unquoted(text: string, names: string[]): string[] {
	// What is left without the names in quotes, and without the name that a longer one begins with.
	const left = new Map<string, string>();
	let rest = text;
	for (const name of names.toSorted((a, b) => b.length - a.length)) {
		rest = rest.replaceAll(`'${name}'`, '');
		left.set(name, rest);
		rest = rest.replaceAll(name, name.includes(' ') ? '' : name);
	}
	return names.filter((name) => {
		const start = name.includes(' ') ? '' : '(?<=[^.!?:] )';
		const pattern = `${start}(?<!\\w)${name.replace(/[()]/g, '\\$&')}(?!\\w)`;
		return new RegExp(pattern).test(left.get(name) ?? '');
	});
}

/** The name of a parameter, and the same without its unit. */
function namesOf({ type, displayName }: INodeProperties): string[] {
	return type === 'notice' ? [] : [displayName, displayName.replace(/ \(.*\)$/, '')];
}

const n8nRules = createRequire(__filename)('eslint-plugin-n8n-nodes-base') as ESLint.Plugin & {
	configs: { nodes: { rules: Linter.RulesRecord } };
};
const NOT_FOR_US = [
	// As in the configuration of the linter.
	'type-options-max-value-present',
	// Of the source only.
	...['display-name-not-first-position', 'description-unneeded-backticks'],
	// Lists are in the order of their use.
	...['options-type-unsorted-items', 'collection-type-unsorted-items'],
	// A scrape returns no leads.
	'description-wrong-for-limit',
].map((name) => [`n8n-nodes-base/node-param-${name}`, 'off'] as const);
const rules = { ...n8nRules.configs.nodes.rules, ...Object.fromEntries(NOT_FOR_US) };

/** What n8n's rules say of properties as code. In the sources, they do not see what functions put together. */
function problemsOf(properties: INodeProperties[]): string[] {
	const all = { depth: Infinity, maxArrayLength: Infinity, maxStringLength: Infinity };
	const text = inspect(properties, { ...all, breakLength: Infinity });
	const code = `class A implements INodeType { description: INodeTypeDescription = { properties: ${text} } }`;
	const plugins = { 'n8n-nodes-base': n8nRules };
	const config = { files: ['**'], plugins, languageOptions: { parser }, rules };
	const lines = code.split('\n');
	return new Linter()
		.verify(code, config as Linter.Config, 'nodes/LeadGen/LeadGen.node.ts')
		.map(({ ruleId, message, line, column, endColumn }) =>
			[ruleId, message, lines[line - 1]?.slice(column - 1, endColumn)].join(': '),
		);
}

const SELECTORS = 'resource operation mode schedule filtersMode events splitOutput'.split(' ');

function hasWrongPlaceholder({ type, placeholder }: INodeProperties): boolean {
	if (/collection/i.test(type)) return !/^Add [A-Z]/.test(placeholder ?? '');
	return placeholder !== undefined && !placeholder.startsWith('e.g. ');
}

describe.each([...NODES, 'leadGenApi'])('In %s', (name) => {
	let properties: INodeProperties[];
	let places: Place[];

	beforeAll(async () => {
		properties = await load(name);
		places = everyProperty(properties);
	});

	async function load(each: string): Promise<INodeProperties[]> {
		if (each === 'leadGenApi') return (await loadCredential(each)).properties;
		return (await loadNode(each)).description.properties;
	}

	test('every property is as the rules of n8n want it', () => {
		expect(problemsOf(properties)).toEqual([]);
	});

	test('placeholders are examples, and what selects the other properties takes no expression', () => {
		const broken = places.filter(({ property }) => {
			const isSelector = SELECTORS.includes(property.name);
			return hasWrongPlaceholder(property) || (isSelector && !property.noDataExpression);
		});
		expect(broken.map(({ path }) => path)).toEqual([]);
	});

	test('texts put the names of parameters in single quotes', async () => {
		const lists = await Promise.all([...NODES, 'leadGenApi'].map(load));
		const all = lists.flatMap((list) => everyProperty(list));
		const names = [...new Set(all.flatMap(({ property }) => namesOf(property)))];
		const wrong = places.flatMap(({ path, property }) =>
			textsOf(property).flatMap((text) => unquoted(text, names).map((each) => `${path}: ${each}`)),
		);
		expect(wrong).toEqual([]);
	});

	test('conditions name properties and values that exist', () => {
		const wrong = places.flatMap(({ path, property: { displayOptions: { show, hide } = {} } }) =>
			[...Object.entries(show ?? {}), ...Object.entries(hide ?? {})]
				.filter(([key, values]) => !isPossible(key, values))
				.map(([key, values]) => `${path}: ${key} = ${JSON.stringify(values)}`),
		);
		expect(wrong).toEqual([]);
	});

	function isPossible(key: string, values: unknown[] = []): boolean {
		// n8n's own: whether the node is used as a tool.
		if (key === '@tool') return true;
		const named = places.filter(({ path }) => path === key.replace(/^\//, ''));
		if (named.length === 0) return false;
		if (isDeepStrictEqual(values, [{ _cnd: { exists: true } }])) return true;
		// Text can be anything; a condition on it names a case that counts.
		if (named.every(({ property }) => property.type === 'json')) return true;
		const known: unknown[] = named.flatMap(({ property }) =>
			property.type === 'boolean' ? [true, false] : choices(property).map(({ value }) => value),
		);
		return values.every((value) => known.includes(value));
	}
});

test.each(NODES)(
	'%s says what it is for, where people and the AI workflow builder look',
	async (name) => {
		const { description } = await loadNode(name);
		const { searchHint = '' } = description.builderHint ?? {};
		expect(searchHint).toMatch(/^[A-Z][\w\s,.:;-]{100,}\.$/);

		// Those that n8n knows. It reads them from the codex file beside the node.
		const known = [
			...['Analytics', 'Communication', 'Data & Storage', 'Development'],
			...['Marketing & Content', 'Productivity', 'Sales', 'Utility'],
		];
		expect(known).toEqual(expect.arrayContaining(description.codex?.categories ?? ['none']));
	},
);

describe('Node leadGen, its operations', () => {
	let node: INodeType;
	let description: INodeTypeDescription;

	beforeAll(async () => {
		node = await loadNode('leadGen');
		({ description } = node);
	});

	test('have an action of their own, without an article', () => {
		const actions = OPERATIONS.map(({ action }) => action);
		expect(actions).toEqual([...new Set(actions)]);
		// Options are shown by the operation alone.
		const values = OPERATIONS.map(({ operation }) => operation);
		expect(values).toEqual([...new Set(values)]);
		expect(actions.filter((action) => /\b(a|an|the)\b/i.test(action))).toEqual([]);
	});

	describe.each(OPERATIONS)('$resource: $operation', ({ resource, operation, ...own }) => {
		test('has one output, or those that it splits its results over', async () => {
			const { split } = own;
			const dryRunOutput = { type: 'main', displayName: 'Dry Run' };
			const cases: Array<[INodeParameters | undefined, unknown[] | undefined]> = [
				[undefined, undefined],
				[{ splitOutput: false, dryRun: false }, undefined],
				[{ splitOutput: false, dryRun: true }, undefined],
				[{ splitOutput: true, dryRun: false }, split],
				[{ splitOutput: true, dryRun: true }, split && [...split, dryRunOutput]],
			];
			for (const [options, expected = ['main']] of cases) {
				const parameters = { resource, operation, ...(options && { options }) };
				const outputs = await computed(node, parameters, (parent, workflow) =>
					NodeHelpers.getNodeOutputs(workflow, parent, description),
				);
				expect(outputs).toEqual(expected);
			}
		});

		test('has its action as its subtitle', async () => {
			expect(await subtitleOf(node, { resource, operation })).toBe(own.action);
		});

		test.each(CHOICES)('has no field and no option twice, with %j', (chosen) => {
			const { fields, options } = shownOf(description, { resource, operation, ...chosen });
			for (const names of [fields, options].map((list) => list.map(({ name }) => name))) {
				expect(names).toEqual([...new Set(names)]);
			}
		});

		test('is documented with every field', () => {
			const documentation = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8');
			const [, common = ''] = documentation.split('\n## Options of every operation\n');
			const section = documentation
				.split('\n### ')
				.find((part) => part.startsWith(`${own.name}\n`));
			expect(section).toBeDefined();
			const all = operation === 'startAndWait' ? documentation : '';
			const documented = [section, common, all].join('\n');
			const fields = everyFieldOf(description, resource, operation);
			const names = fields.map(({ displayName }) => displayName);
			expect(names.filter((displayName) => !documented.includes(displayName))).toEqual([]);
		});
	});

	describe.each(['leadGen', 'leadGenTool'])('show as %s', (name) => {
		const isTool = name === 'leadGenTool';
		const output = isTool ? [] : ['includeInput', 'resultField'];
		const split = isTool ? [] : ['splitOutput'];
		const calls = ['parallel', 'requestTimeout'];
		const budget = ['includeCost', 'maxPaidCalls', ...(isTool ? [] : ['dryRun'])];
		const lookup = [...budget, 'rememberMinutes', ...calls];
		const wait = ['failedAsResult', 'pollInterval', 'timeout'];
		const names = ['nameFormat', 'firstName', 'lastName'];
		const full = ['nameFormat', 'fullName'];
		const profile = ['company', 'linkedinUrl'];
		const start = [isTool ? 'toolNotice' : 'notice', 'filtersMode'];
		const inFields = ['filters', ...(isTool ? [] : ['noFieldFilterNotice']), 'limit'];
		const inJson = ['filtersJson', ...(isTool ? [] : ['noJsonFilterNotice']), 'limit'];
		const enrich = {
			fields: (name: string[]) => ['notice', ...name, ...profile, 'accept', 'tryPersonal'],
			options: (location: string[]) => [
				...[...output, ...split, ...location, 'minConfidence', ...lookup],
			],
		};
		const expression = '={{ $json.chosen }}';

		/** The operation, what is chosen, the fields, and the options in groups: output, operation, cost, calls. */
		test.each<[string, INodeParameters, fields: string[], options: string[]]>([
			['email.enrich', {}, enrich.fields(names), enrich.options([])],
			['email.enrich', { nameFormat: 'full' }, enrich.fields(full), enrich.options([])],
			[
				'email.enrich',
				{ nameFormat: expression },
				enrich.fields([...names, 'fullName']),
				enrich.options([]),
			],
			['email.enrich', { tryPersonal: true }, enrich.fields(names), enrich.options(['location'])],
			[
				'email.enrich',
				{ tryPersonal: expression },
				enrich.fields(names),
				enrich.options(['location']),
			],
			['email.findBusiness', {}, [...names, ...profile], [...output, ...split, ...lookup]],
			[
				'email.findBusiness',
				{ nameFormat: 'full' },
				[...full, ...profile],
				[...output, ...split, ...lookup],
			],
			[
				'email.findPersonal',
				{},
				[...names, 'linkedinUrl'],
				[...output, ...split, 'location', ...lookup],
			],
			[
				'email.findPersonal',
				{ nameFormat: 'full' },
				[...full, 'linkedinUrl'],
				[...output, ...split, 'location', ...lookup],
			],
			['email.verify', {}, ['email'], [...output, ...split, ...lookup]],
			['scrape.start', {}, [...start, ...inFields], [...output, 'webhookUrl', ...budget, ...calls]],
			[
				'scrape.start',
				{ filtersMode: 'json' },
				[...start, ...inJson],
				[...output, 'webhookUrl', ...budget, ...calls],
			],
			[
				'scrape.startAndWait',
				{},
				[...start, ...inFields],
				[...output, 'webhookUrl', ...wait, ...budget, ...calls],
			],
			['scrape.wait', {}, ['scrapeId'], [...output, ...wait]],
			['scrape.getStatus', {}, ['scrapeId'], output],
			['credit.get', {}, [], output],
		])('%s with %j', (path, chosen, fields, options) => {
			const [resource = '', operation = ''] = path.split('.');
			const own = { ...description, name };
			const shown = shownOf(own, { resource, operation, ...chosen });
			const namesOf = (list: INodeProperties[]) => list.map((property) => property.name);
			expect(namesOf(shown.fields)).toEqual(fields);
			expect(namesOf(shown.options)).toEqual(options);

			// Of what a workflow saved for all operations, n8n gives the node just this.
			const { properties } = description;
			const valuesOf = (list: INodeProperties[]) =>
				Object.fromEntries(list.map((property) => [property.name, property.default]));
			const collection = properties.find((property) => property.name === 'options');
			const saved = { ...valuesOf(properties), options: valuesOf(inside(collection)) };
			const given = NodeHelpers.getNodeParameters(
				properties,
				{ ...saved, resource, operation, ...chosen },
				...([true, false, null, own] as const),
			);
			const { options: givenOptions, ...givenFields } = given ?? {};
			const inOrder = (list: string[]) => list.toSorted();
			expect(inOrder(Object.keys(givenFields))).toEqual(
				inOrder(['resource', 'operation', ...fields]),
			);
			expect(inOrder(Object.keys(givenOptions ?? {}))).toEqual(inOrder(options));
		});
	});
});

test.each<[INodeParameters, string]>([
	[{}, 'Start a scrape once'],
	[{ schedule: 'hourly' }, 'Every hour'],
	[{ schedule: 'hourly', triggerAtMinute: 5 }, 'Every hour at :05'],
	[{ schedule: 'daily' }, 'Every day at 9:00'],
	[{ schedule: 'daily', triggerAtHour: 0, triggerAtMinute: 30 }, 'Every day at 0:30'],
	[{ schedule: 'weekly' }, 'Every Monday at 9:00'],
	[{ schedule: 'weekly', triggerAtWeekday: '0', triggerAtHour: 23 }, 'Every Sunday at 23:00'],
	[{ schedule: 'weekly', triggerAtHour: '={{ 7 }}' }, 'Every Monday at 7:00'],
	[{ schedule: 'monthly' }, 'Monthly on day 1 at 9:00'],
	[{ schedule: 'monthly', triggerAtDayOfMonth: 31 }, 'Monthly on day 31 at 9:00'],
	[{ schedule: 'cron', cronExpression: '0 9 * * 1-5' }, 'Cron: 0 9 * * 1-5'],
	[{ mode: 'listen' }, 'Receive completions'],
	[{ mode: 'listen', schedule: 'weekly', events: ['failed'] }, 'Receive completions'],
	[{ schedule: 'weekly', options: { testLimit: 0 } }, 'Every Monday at 9:00'],
])('The subtitle of the trigger says when it starts scrapes: %j', async (parameters, expected) => {
	expect(await subtitleOf(await loadNode('leadGenTrigger'), parameters)).toBe(expected);
});

test.each(OPERATIONS)(
	'n8n publishes a workflow unless a parameter is missing: $resource $operation',
	async ({ resource, operation }) => {
		const needed: Record<string, string> = {
			'email.verify': 'email',
			'scrape.getStatus': 'scrapeId',
			'scrape.wait': 'scrapeId',
		};
		const name = needed[`${resource}.${operation}`];
		const type = await loadNode('leadGen');
		// n8n's own check before it publishes. It takes any expression for filled in.
		const missing = async (filled: INodeParameters) => {
			const issues = await computed(type, { resource, operation, ...filled }, (own) =>
				NodeHelpers.getNodeParametersIssues(type.description.properties, own, type.description),
			);
			return Object.keys(issues?.parameters ?? {});
		};
		expect(await missing({})).toEqual(name ? [name] : []);
		expect(await missing(name ? { [name]: 'a value' } : {})).toEqual([]);
	},
);

test.each<[INodeParameters, string]>([
	[{}, ''],
	[{ schedule: 'hourly' }, 'triggerAtMinute'],
	[{ schedule: 'daily' }, 'triggerAtHour triggerAtMinute'],
	[{ schedule: 'weekly' }, 'triggerAtWeekday triggerAtHour triggerAtMinute'],
	[{ schedule: 'monthly' }, 'triggerAtDayOfMonth triggerAtHour triggerAtMinute'],
	[{ schedule: 'cron' }, 'cronExpression'],
	[{ mode: 'listen' }, ''],
])(
	'The trigger shows the fields of its start, and no others, with %j',
	async (parameters, times) => {
		const { fields, options } = shownOf((await loadNode('leadGenTrigger')).description, parameters);
		const filters = 'filtersMode filters noFieldFilterNotice';
		const start = `startScrapeNotice limit schedule ${times} ${filters} events output internalUrl testLimit`;
		const listen = 'listenNotice events output internalUrl';
		const shown = `mode ${parameters.mode === 'listen' ? listen : start} testScrapeId`;
		expect([...fields, ...options].map(({ name }) => name)).toEqual(shown.split(/ +/));
	},
);

/** As the editor decides what it shows. */
describe('The editor says that no filter is set', () => {
	const base = { resource: 'scrape', operation: 'start', filtersMode: 'fields', filters: {} };
	const json = { ...base, filtersMode: 'json' };
	const jobTitles = ['CTO'];
	const trigger = { mode: 'startScrape', filtersMode: 'fields', filters: {} };

	test.each<[string, 'said' | 'not said', INodeParameters]>([
		['leadGen', 'said', base],
		['leadGen', 'said', { ...base, operation: 'startAndWait' }],
		['leadGen', 'said', { ...base, filters: { jobTitles: [] } }],
		['leadGen', 'said', { ...base, filters: { jobTitles: [''], locations: [] } }],
		['leadGen', 'said', { ...base, filters: { companySize: '' } }],
		// With the JSON that the editor begins with.
		['leadGen', 'said', json],
		['leadGen', 'said', { ...json, filtersJson: '{}' }],
		['leadGen', 'said', { ...json, filtersJson: '', filters: { jobTitles } }],
		['leadGen', 'not said', { ...base, filters: { jobTitles } }],
		['leadGen', 'not said', { ...base, filters: { jobTitles: [], locations: ['Austin, Texas'] } }],
		['leadGen', 'not said', { ...base, filters: { industries: '={{ $json.industries }}' } }],
		['leadGen', 'not said', { ...base, filters: { companySize: '11-50' } }],
		['leadGen', 'not said', { ...json, filtersJson: '{ "jobTitles": ["CTO"] }' }],
		[
			'leadGen',
			'not said',
			{ ...json, filtersJson: '{ "industries": ["IT"] }', filters: { jobTitles } },
		],
		['leadGen', 'not said', { ...base, operation: 'wait' }],
		['leadGen', 'not said', { ...base, resource: 'email', operation: 'verify' }],
		['leadGenTrigger', 'said', trigger],
		['leadGenTrigger', 'not said', { ...trigger, filters: { jobTitles } }],
		['leadGenTrigger', 'not said', { ...trigger, mode: 'listen' }],
	])('in %s it is %s with %j', async (name, isSaid, parameters) => {
		const type = await loadNode(name);
		const shown = await computed(type, parameters, (own) =>
			type.description.properties.filter(
				(property) =>
					property.displayName.startsWith('No filter is set.') &&
					NodeHelpers.displayParameter(own.parameters, property, own, type.description),
			),
		);
		expect(shown).toHaveLength(isSaid === 'said' ? 1 : 0);
	});

	test('but not to an AI agent, which a notice tells how to set one', async () => {
		const type = await loadNode('leadGen');
		const noticesFor = (name: string) =>
			type.description.properties
				.filter((property) => {
					const description = { ...type.description, name };
					const isShown = NodeHelpers.displayParameter(base, property, null, description);
					return property.type === 'notice' && isShown;
				})
				.map(({ displayName }) => displayName.split(' ').slice(0, 3).join(' '));
		expect(noticesFor('leadGen')).toEqual(['Each incoming item', 'No filter is']);
		expect(noticesFor('leadGenTool')).toEqual(['Each call starts']);
	});
});

/** The part of JSON Schema that n8n's editor shows as the fields of a node that has not run yet. */
interface Schema {
	type: string;
	properties?: Record<string, Schema>;
	items?: Schema;
}

/** What the values have in common, as a schema; nulls say nothing. */
function schemaOf(values: unknown[]): Schema {
	const [first] = values;
	if (Array.isArray(first)) return { type: 'array', items: schemaOf(values.flat()) };
	if (typeof first !== 'object' || first === null) return { type: typeof first };
	const names = new Set(values.flatMap((value) => Object.keys(value as object)));
	const properties: Record<string, Schema> = {};
	for (const name of names) {
		const inner = values.map((value) => (value as IDataObject)[name]);
		properties[name] = schemaOf(inner.filter((value) => value !== null && value !== undefined));
	}
	return { type: 'object', properties };
}

describe('In a run', () => {
	const service = useService();
	/** Switches; each has tests of what it does. */
	const SWITCHES = [...['dryRun', 'failedAsResult', 'includeCost', 'includeInput', 'splitOutput']];
	const parameters = { ...person, email: '={{ $json.first }}@acme.com' };

	test.each(OPERATIONS)(
		'every option is read: $resource $operation',
		async ({ resource, operation }) => {
			service.sandbox.set({ job: { durationMs: 0 } });
			const scrapeId = await service.startJob();
			const { description } = await loadNode('leadGen');
			const own = { ...parameters, tryPersonal: true, scrapeId };
			const { options } = shownOf(description, { resource, operation, ...own });
			expect(options.length).toBeGreaterThan(0);
			for (const { name, displayName, type } of options) {
				if (type === 'boolean') {
					expect(SWITCHES).toContain(name);
					continue;
				}
				const result = await service.run(
					[resource, operation],
					{ ...own, options: { [name]: '={{ ({ no: "value" }) }}' } },
					people('Ann Sure', 'Bob Sure'),
					keepGoing,
				);
				const error = {
					message: containing(`${displayName} must be `),
					advice: someText,
					field: displayName,
					outcome: 'notSent',
				};
				expect(result.items.map(({ json }) => json.error)).toEqual([error, error]);
			}
		},
	);

	test.each(OPERATIONS)(
		'the result has the fields that the editor shows before the first run: $resource $operation',
		async ({ resource, operation }) => {
			service.sandbox.set({ job: { durationMs: 0 } });
			const scrapeId = await service.startJob();
			const all = { ...parameters, tryPersonal: true, scrapeId };
			const items = people('Valid Sure', 'Invalid Low', 'Tom Nobody');
			const result = await service.run([resource, operation], all, items);

			expect(result.items).toHaveLength(items.length);
			// Beside the built node, where n8n looks for them.
			const nodeDir = join(ROOT, 'dist/nodes/LeadGen');
			const schema = loadOutputSchema({ nodeDir, version: 1, resource, operation });
			expect(schema).toEqual({ ...schemaOf(result.items.map(({ json }) => json)), version: 1 });
		},
	);
});

test('A limit that the credential saved is not lost, and counts only where the plan shows it', async () => {
	const { properties } = await loadCredential('leadGenApi');
	const plans = choices(properties.find(({ name }) => name === 'plan'));
	// n8n gives the node only what the plan shows.
	const limits = plans.map(({ value: plan }) => {
		const saved = { plan, requestsPerMinute: 240 };
		const shown = NodeHelpers.getNodeParameters(properties, saved, true, false, null, null);
		return [plan, shown?.requestsPerMinute];
	});
	expect(limits).toEqual([
		['auto', 240],
		['starter', undefined],
		['pro', undefined],
		['enterprise', 240],
	]);
});

describe('The package', () => {
	let folder: string;
	let packed: { filename: string; files: Array<{ path: string }> };

	beforeAll(() => {
		folder = mkdtempSync(join(tmpdir(), 'leadgen-package-'));
		const npm = npmIn(ROOT, true);
		const output = npm('pack', '--json', '--ignore-scripts', `--pack-destination=${folder}`);
		[packed] = JSON.parse(output) as [typeof packed];
	});
	afterAll(() => {
		rmSync(folder, { recursive: true });
	});

	// With the Node.js that npm puts in front for the scripts of the project, and with that of the machine. An n8n-workflow
	// beside it would be a second one, with packages that do not compile on every Node.js.
	test.each([true, false])('installs with npm as the only package (own Node.js: %s)', (isOwn) => {
		const target = mkdtempSync(join(folder, 'install-'));
		// Offline, since nothing must be needed from the registry.
		const npm = npmIn(target, isOwn);
		const output = npm('install', join(folder, packed.filename), '--offline', '--no-audit');
		expect(output).toMatch(/^added 1 package in/m);
		const installed = readdirSync(join(target, 'node_modules'));
		expect(installed).toEqual(['.package-lock.json', 'n8n-nodes-leadgen']);
		// Offline, npm would leave them out without a word.
		expect(packageJson).not.toHaveProperty('optionalDependencies');
	});

	test('publishes what n8n runs, and nothing else', async () => {
		const paths = packed.files.map(({ path }) => path);
		const allowed =
			/^(package\.json|index\.js|README\.md|LICENSE(\.md)?|CHANGELOG\.md|dist\/(nodes|credentials)\/.+\.(js|json|svg))$/;
		expect(paths.filter((path) => !allowed.test(path))).toEqual([]);
		const { nodes, credentials } = packageJson.n8n;
		const codexes = nodes.map((file) => file.replace(/\.js$/, '.json'));
		const main = ['package.json', packageJson.main, 'index.js', 'LICENSE.md'];
		const described = NODES.map(async (name) => (await loadNode(name)).description);
		const all = [...(await Promise.all(described)), await loadCredential('leadGenApi')];
		const icons = all.flatMap(({ iconUrl }) => Object.values(iconUrl as Record<string, string>));
		expect(icons).toHaveLength(6);
		const files = icons.map((url) => url.replace(`icons/${packageJson.name}/`, ''));
		const needed = [...main, ...nodes, ...codexes, ...credentials, ...files];
		expect(paths).toEqual(expect.arrayContaining(needed));
	});
});

/** npm in a folder, without the settings that it got for the scripts of the project. */
function npmIn(cwd: string, isOwnNode: boolean) {
	const own = join(ROOT, 'node_modules/.bin');
	const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== own);
	const settings = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name));
	const PATH = [...(isOwnNode ? [own] : []), ...path].join(delimiter);
	const env = { ...Object.fromEntries(settings), PATH };
	return (...args: string[]) => execFileSync('npm', args, { cwd, env, encoding: 'utf8' });
}
