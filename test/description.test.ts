import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import {
	NodeHelpers,
	Workflow,
	type INode,
	type INodeParameters,
	type INodeProperties,
	type INodeType,
	type INodeTypeDescription,
} from 'n8n-workflow';
import packageJson from '../package.json';
import { resources } from '../nodes/LeadGen/action/operations';
import { loadCredential, loadNode } from './engine';
import { useService } from './service';

const ROOT = join(__dirname, '..');

/** By the name of the node: its class file without the folder and the ending, in lower camel case. */
const nodeFiles = packageJson.n8n.nodes.map((file) => {
	const name = basename(file, '.node.js');
	return { name: name.charAt(0).toLowerCase() + name.slice(1), file };
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

/** The properties that an operation shows, whatever their other conditions. */
function propertiesOf(description: INodeTypeDescription, resource: string, operation: string) {
	return description.properties.filter(({ displayOptions: { show = {} } = {} }) => {
		const { resource: resources = [], operation: operations = [] } = show;
		return (
			(resources as unknown[]).includes(resource) && (operations as unknown[]).includes(operation)
		);
	});
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

const SMALL_WORDS = new Set(
	'a an and as at but by for from if in into nor of off on or per the to until with'.split(' '),
);

/** Words of a display name that are not written in Title Case. */
function wrongWords(title: string): string[] {
	return title
		.split(/[\s/]+/)
		.filter((word, index) => !/^[^a-z]/.test(word) && (index === 0 || !SMALL_WORDS.has(word)));
}

function wrongEnd(description: string): boolean {
	const isSeveral = /[.!?]\s+\S/.test(description.replace(/\be\.g\.\s/g, ''));
	return description.endsWith('.') !== isSeveral;
}

/** What stands where people read names, and where they read sentences. */
function titlesOf(property: INodeProperties): string[] {
	const listed = choices(property).map(({ name }) => name);
	return property.type === 'notice' ? listed : [property.displayName, ...listed];
}

function descriptionsOf(property: INodeProperties): string[] {
	const listed = choices(property).map((choice) => choice.description);
	return [property.description, ...listed].filter((text) => text !== undefined);
}

/** All that the editor shows of a property, beside its name: descriptions, hints, and the text of a notice. */
function textsOf(property: INodeProperties): string[] {
	const { type, displayName, hint, placeholder } = property;
	const own = [type === 'notice' ? displayName : undefined, hint, placeholder];
	return [...descriptionsOf(property), ...own.filter((text) => text !== undefined)];
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

const sorted = (texts: string[]) => texts.toSorted((a, b) => a.localeCompare(b));

/** The JavaScript type of a default, by the kind of the property; otherwise it is text. */
const KINDS: Record<string, string> = {
	number: 'number',
	boolean: 'boolean',
	collection: 'object',
	fixedCollection: 'object',
};

function hasWrongDefault(property: INodeProperties): boolean {
	const { type, default: value, typeOptions } = property;
	if (['notice', 'button', 'hidden'].includes(type)) return false;
	if (type === 'multiOptions' || typeOptions?.multipleValues) return !Array.isArray(value);
	if (type === 'options') return !choices(property).some((choice) => choice.value === value);
	return typeof value !== (KINDS[type] ?? 'string');
}

function hasWrongPlaceholder({ type, placeholder }: INodeProperties): boolean {
	if (type === 'collection' || type === 'fixedCollection')
		return !/^Add [A-Z]/.test(placeholder ?? '');
	return placeholder !== undefined && !placeholder.startsWith('e.g. ');
}

const SELECTORS = 'resource operation mode schedule filtersMode events splitOutput'.split(' ');

/** What each property has, and when it has not. */
const RULES: Array<[string, (property: INodeProperties) => boolean]> = [
	['a name in camel case', ({ name }) => !/^[a-z][A-Za-z]*$/.test(name)],
	['a default of its type', hasWrongDefault],
	[
		'display names in Title Case',
		(property) => titlesOf(property).some((title) => wrongWords(title).length > 0),
	],
	[
		'descriptions that are sentences as n8n writes them',
		(property) =>
			descriptionsOf(property).some(
				(text) => wrongEnd(text) || !/^[A-Z]/.test(text) || text !== text.trim(),
			),
	],
	[
		'a description that says more than its name',
		({ displayName, description }) => description?.toLowerCase() === displayName.toLowerCase(),
	],
	[
		'a description that begins with "Whether" if it is a switch',
		({ type, description = '' }) => type === 'boolean' && !description.startsWith('Whether '),
	],
	['a placeholder that is an example, or says what a button adds', hasWrongPlaceholder],
	[
		'no expression if it selects what the others are',
		({ name, noDataExpression }) => SELECTORS.includes(name) && noDataExpression !== true,
	],
];

describe.each([...nodeFiles.map(({ name }) => name), 'leadGenApi'])('In %s', (name) => {
	let places: Place[];

	beforeAll(async () => {
		places = everyProperty(await load(name));
	});

	async function load(each: string): Promise<INodeProperties[]> {
		if (each === 'leadGenApi') return (await loadCredential(each)).properties;
		return (await loadNode(each)).description.properties;
	}

	test.each(RULES)('every property has %s', (_, isBroken) => {
		const broken = places.filter(({ property }) => isBroken(property));
		expect(broken.map(({ path }) => path)).toEqual([]);
	});

	test('texts put the names of parameters in single quotes', async () => {
		const lists = await Promise.all(['leadGen', 'leadGenTrigger', 'leadGenApi'].map(load));
		const all = lists.flatMap((list) => everyProperty(list));
		const names = [...new Set(all.flatMap(({ property }) => namesOf(property)))];
		const wrong = places.flatMap(({ path, property }) =>
			textsOf(property).flatMap((text) => unquoted(text, names).map((each) => `${path}: ${each}`)),
		);
		expect(wrong).toEqual([]);
	});

	test('collections with five fields or more are sorted by the names that people see, options by use', () => {
		for (const { path, property } of places) {
			if (name === 'leadGen' && path === 'options') continue;
			const names = inside(property).map(({ displayName }) => displayName);
			expect({ path, names }).toEqual({ path, names: names.length < 5 ? names : sorted(names) });
		}
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

describe.each(nodeFiles)('Node $name', ({ name, file }) => {
	let description: INodeTypeDescription;

	beforeAll(async () => {
		({ description } = await loadNode(name));
	});

	test('is named as its file says, with icons and text', () => {
		expect(description).toMatchObject({
			name,
			displayName: expect.stringMatching(/^LeadGen/) as string,
			version: 1,
			credentials: [{ name: 'leadGenApi', required: true }],
		});
		expect(wrongEnd(description.description)).toBe(false);
		expectIcons(description.iconUrl);
	});

	test('says in plain text what it is for, where the AI workflow builder looks', () => {
		const { searchHint = '' } = description.builderHint ?? {};
		expect(searchHint).toMatch(/^[A-Z][\w\s,.:;-]{100,}\.$/);
	});

	test('has a codex file that n8n can use', () => {
		const text = readFileSync(join(ROOT, file.replace(/\.js$/, '.json')), 'utf8');
		const codex = JSON.parse(text) as { categories: string[]; subcategories?: object };
		expect(codex).toMatchObject({
			node: `${packageJson.name}.${name}`,
			nodeVersion: '1.0',
			codexVersion: '1.0',
		});
		const known = [
			...['Analytics', 'Communication', 'Data & Storage', 'Development'],
			...['Marketing & Content', 'Productivity', 'Sales', 'Utility'],
		];
		expect(known).toEqual(expect.arrayContaining(codex.categories));
		expect(codex.categories).not.toEqual([]);
		// An empty object hides nothing, and says nothing.
		expect(codex.subcategories).not.toEqual({});
		expect(description.codex?.categories).toEqual(codex.categories);
	});

	test('has limits that are the one that n8n users know', () => {
		const places = everyProperty(description.properties);
		const limits = places.filter(({ property }) => property.name === 'limit');
		expect(limits).not.toEqual([]);
		for (const { property } of limits) {
			expect(property).toMatchObject({
				displayName: 'Limit',
				type: 'number',
				default: 50,
				description: 'Max number of results to return',
				typeOptions: { minValue: 1 },
			});
		}
	});
});

describe('Node leadGen, its operations', () => {
	let node: INodeType;
	let description: INodeTypeDescription;

	beforeAll(async () => {
		node = await loadNode('leadGen');
		({ description } = node);
	});

	test('are those of the table, with an action without an article, and a description', () => {
		const selectors = description.properties.filter(({ name }) => name === 'operation');
		const listed = selectors.flatMap((selector) =>
			choices(selector).map(({ value, name, action, description: text }) => {
				expect(action).toMatch(/^[A-Z][a-z]*( [a-z]+)+$/);
				expect(action).not.toMatch(/\b(a|an|the)\b/i);
				expect(text).toMatch(/^[A-Z].{20}/);
				return [selector.displayOptions?.show?.resource, value, name, action];
			}),
		);
		expect(listed).toEqual(
			OPERATIONS.map((each) => [[each.resource], each.operation, each.name, each.action]),
		);
		expect(new Set(OPERATIONS.map(({ action }) => action)).size).toBe(OPERATIONS.length);
	});

	test('can be used as a tool', () => {
		expect(description).toMatchObject({ usableAsTool: true, inputs: ['main'] });
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

		test('has no field twice', () => {
			const names = propertiesOf(description, resource, operation).map(({ name }) => name);
			expect(names).toEqual([...new Set(names)]);
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
			const properties = propertiesOf(description, resource, operation);
			const fields = [...properties, ...properties.flatMap(inside)]
				.filter(({ type, name }) => type !== 'notice' && name !== 'options')
				.map(({ displayName }) => displayName);
			expect(fields.filter((displayName) => !documented.includes(displayName))).toEqual([]);
		});
	});

	test('have their options in groups: the output, the operation, the cost, the calls', () => {
		const byOperation = OPERATIONS.map(({ resource, operation }) => {
			const properties = propertiesOf(description, resource, operation);
			const options = inside(properties.find(({ name }) => name === 'options'));
			return [`${resource}.${operation}`, options.map(({ name }) => name)];
		});
		const output = ['includeInput', 'resultField'];
		const calls = ['parallel', 'requestTimeout'];
		const budget = ['includeCost', 'spendAtMost', 'keepCredits', 'dryRun'];
		const lookup = [...budget, 'rememberMinutes', ...calls];
		const person = ['cleanNames', 'errorIfNotFound'];
		const wait = ['failedAsResult', 'pollInterval', 'timeout'];
		const expected = {
			'email.enrich': [
				...[...output, 'splitOutput', 'cleanNames', 'location'],
				...['minConfidence', 'trustConfidence', 'errorIfNotFound', ...lookup],
			],
			'email.findBusiness': [...output, 'splitOutput', 'linkedinUrl', ...person, ...lookup],
			'email.findPersonal': [...output, 'splitOutput', 'location', ...person, ...lookup],
			'email.verify': [...output, 'splitOutput', ...lookup],
			'scrape.start': [...output, 'webhookUrl', ...budget, ...calls],
			'scrape.startAndWait': [...output, 'webhookUrl', ...wait, ...budget, ...calls],
			'scrape.wait': [...output, ...wait, ...calls],
			'scrape.getStatus': [...output, ...calls],
			'credit.get': [...output, ...calls],
		};
		expect(byOperation).toEqual(Object.entries(expected));
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

/** Fixed values: n8n takes any expression for filled in. */
describe('n8n publishes a workflow unless a parameter is missing', () => {
	const linkedinUrl = 'https://www.linkedin.com/in/nathan-smith';
	const business = { resource: 'email', operation: 'findBusiness' };
	const personal = { resource: 'email', operation: 'findPersonal' };
	const enrich = { resource: 'email', operation: 'enrich' };

	test.each<[INodeParameters, ...missing: string[]]>([
		[{ ...business, firstName: 'Nathan', lastName: 'Smith', options: { linkedinUrl } }],
		[{ ...business, firstName: 'Nathan', lastName: 'Smith', linkedinUrl }],
		[{ ...business, firstName: 'Nathan', company: 'acme.com' }],
		[{ ...business, lastName: 'Smith', company: 'acme.com' }],
		[{ ...enrich, firstName: 'Nathan', lastName: 'Smith', linkedinUrl }],
		[{ ...enrich, firstName: 'Nathan', company: 'acme.com' }],
		[{ ...enrich, lastName: 'Smith', linkedinUrl, tryPersonal: true }],
		[{ ...personal, firstName: 'Nathan', linkedinUrl }],
		[{ ...personal, lastName: 'Smith' }],
		[{ ...personal, fullName: 'Nathan Smith' }],
		[{ ...business, fullName: 'Nathan Smith', company: 'acme.com' }],
		[{ resource: 'email', operation: 'verify', email: 'nathan@acme.com' }],
		[{ resource: 'scrape', operation: 'start' }],
		[{ resource: 'scrape', operation: 'getStatus', scrapeId: 'scr_1' }],
		[{ resource: 'credit', operation: 'get' }],
		[{ resource: 'email', operation: 'verify' }, 'email'],
		[{ resource: 'scrape', operation: 'getStatus' }, 'scrapeId'],
		[{ resource: 'scrape', operation: 'wait' }, 'scrapeId'],
	])('%j', async (parameters, ...missing) => {
		const type = await loadNode('leadGen');
		// n8n's own check before it publishes.
		const issues = await computed(type, parameters, (own) =>
			NodeHelpers.getNodeParametersIssues(type.description.properties, own, type.description),
		);
		expect(Object.keys(issues?.parameters ?? {})).toEqual(missing);
	});
});

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

describe('Every option of a collection is read', () => {
	const service = useService();
	/** Switches; each has tests of what it does. */
	const SWITCHES = [
		...['cleanNames', 'dryRun', 'errorIfNotFound', 'failedAsResult'],
		...['includeCost', 'includeInput', 'splitOutput'],
	];
	const parameters: INodeParameters = {
		firstName: '={{ $json.name }}',
		lastName: 'Sure',
		company: 'acme.com',
		email: '={{ $json.name }}@acme.com',
	};
	const items = [{ name: 'ann' }, { name: 'bob' }];

	test.each(OPERATIONS)('$resource: $operation', async ({ resource, operation }) => {
		service.sandbox.set({ job: { durationMs: 0 } });
		const scrapeId = await service.startJob();
		const { description } = await loadNode('leadGen');
		const collections = propertiesOf(description, resource, operation)
			.filter(({ type }) => type === 'collection')
			.flatMap((collection) => inside(collection).map((option) => ({ collection, ...option })));
		for (const { collection, name, displayName, type } of collections) {
			if (type === 'boolean') {
				expect(SWITCHES).toContain(name);
				continue;
			}
			const result = await service.run(
				[resource, operation],
				{ ...parameters, scrapeId, [collection.name]: { [name]: '={{ ({ no: "value" }) }}' } },
				items,
				{ onError: 'continueRegularOutput' },
			);
			const error = {
				message: expect.stringContaining(`${displayName} must be `) as unknown,
				advice: expect.any(String) as unknown,
				field: displayName,
			};
			expect(result.items.map(({ json }) => json.error)).toEqual([error, error]);
		}
	});
});

test('The credential is described as the nodes and people need it', async () => {
	const credential = await loadCredential('leadGenApi');
	const { properties } = credential;
	expect(credential).toMatchObject({
		name: 'leadGenApi',
		displayName: 'LeadGen API',
		documentationUrl: expect.stringMatching(/^https:\/\//) as string,
	});
	expectIcons(credential.iconUrl);
	const read = (field: INodeProperties) => [field.name, field.type, field.default, field.required];
	expect(properties.map(read)).toEqual([
		['baseUrl', 'string', '', true],
		['apiKey', 'string', '', true],
		['plan', 'options', 'auto', undefined],
		['requestsPerMinute', 'number', 0, undefined],
		['requestsPerMinute', 'hidden', 0, undefined],
	]);
	expect(properties[1]?.typeOptions).toEqual({ password: true });
	// n8n gives the node only what the plan shows. A limit that was saved must not be lost.
	const limits = choices(properties[2]).map(({ value: plan }) => {
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

	test('publishes what n8n runs, and nothing else', () => {
		const paths = packed.files.map(({ path }) => path);
		const allowed =
			/^(package\.json|index\.js|README\.md|LICENSE(\.md)?|CHANGELOG\.md|dist\/(nodes|credentials)\/.+\.(js|json|svg))$/;
		expect(paths.filter((path) => !allowed.test(path))).toEqual([]);
		const { nodes, credentials } = packageJson.n8n;
		const codexes = nodes.map((file) => file.replace(/\.js$/, '.json'));
		const main = ['package.json', packageJson.main, 'index.js', 'LICENSE.md'];
		const needed = [...main, ...nodes, ...codexes, ...credentials];
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

/** Both icons must be files of the built package. */
function expectIcons(iconUrl: INodeTypeDescription['iconUrl']): void {
	if (typeof iconUrl !== 'object') throw new Error(`There is no pair of icons: ${String(iconUrl)}`);
	for (const url of [iconUrl.light, iconUrl.dark]) {
		const path = url.replace(`icons/${packageJson.name}/`, '');
		expect(path).toMatch(/^dist\/.+\.svg$/);
		expect(readFileSync(join(ROOT, path), 'utf8')).toMatch(/^(<\?xml[^>]*>\s*)?<svg/);
	}
}
