import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
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
	operations.map(({ value: operation, split }) => ({ resource, operation, split })),
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
		const inner = (property.options ?? []).flatMap((option) =>
			'values' in option ? option.values : 'type' in option ? [option] : [],
		);
		return [{ path, property }, ...everyProperty(inner, `${path}.`)];
	});
}

/** The choices of a list, in their order. */
function choices(property: INodeProperties | undefined) {
	return (property?.options ?? []).flatMap((option) => ('value' in option ? [option] : []));
}

/** The properties inside a collection, in their order. */
function inside(property: INodeProperties | undefined): INodeProperties[] {
	return (property?.options ?? []).flatMap((option) => ('type' in option ? [option] : []));
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

/** A workflow that consists of the LeadGen node alone. */
function workflowOf(type: INodeType, parameters: INodeParameters) {
	const own: INode = {
		id: '1',
		name: 'LeadGen',
		type: 'leadGen',
		typeVersion: 1,
		position: [0, 0],
		parameters,
	};
	const nodeTypes = {
		getByName: () => type,
		getByNameAndVersion: () => type,
		getKnownTypes: () => ({}),
	};
	return {
		own,
		workflow: new Workflow({ nodes: [own], connections: {}, active: false, nodeTypes }),
	};
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

/** All that the editor shows of a property, beside its name: descriptions, hints, and the text of a notice. */
function textsOf(property: INodeProperties): string[] {
	const { type, displayName, description, hint, placeholder } = property;
	const own = [type === 'notice' ? displayName : undefined, description, hint, placeholder];
	const listed = choices(property).map((choice) => choice.description);
	return [...own, ...listed].filter((text) => text !== undefined);
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

describe.each(nodeFiles)('Node $name', ({ name, file }) => {
	let description: INodeTypeDescription;
	let places: Place[];

	beforeAll(async () => {
		({ description } = await loadNode(name));
		places = everyProperty(description.properties);
	});

	/** The places that break a rule. */
	const breaking = (rule: (property: INodeProperties) => boolean) =>
		places.filter(({ property }) => rule(property)).map(({ path }) => path);

	test('is named as its file says, with icons and text', () => {
		expect(description).toMatchObject({ name, version: 1 });
		expect(description.displayName).toMatch(/^LeadGen/);
		expect(wrongEnd(description.description)).toBe(false);
		expect(description.credentials).toEqual([
			expect.objectContaining({ name: 'leadGenApi', required: true }),
		]);
		expectIcons(description.iconUrl);
	});

	test('says in plain text what it is for, where the AI workflow builder looks', () => {
		const { searchHint = '' } = description.builderHint ?? {};
		expect(searchHint).toMatch(/^[A-Z][\w\s,.:;-]{100,}\.$/);
	});

	test('has a codex file that n8n can use', () => {
		const codex = JSON.parse(
			readFileSync(join(ROOT, file.replace(/\.js$/, '.json')), 'utf8'),
		) as Record<string, unknown>;
		expect(codex.node).toBe(`${packageJson.name}.${name}`);
		expect(codex.nodeVersion).toBe('1.0');
		expect(codex.codexVersion).toBe('1.0');
		const known = [
			'Analytics',
			'Communication',
			'Data & Storage',
			'Development',
			'Marketing & Content',
			'Productivity',
			'Sales',
			'Utility',
		];
		expect(known).toEqual(expect.arrayContaining(codex.categories as string[]));
		expect(codex.categories).not.toEqual([]);
		// An empty object hides nothing, and says nothing.
		expect(codex.subcategories).not.toEqual({});
		expect(description.codex?.categories).toEqual(codex.categories);
	});

	test('every property has a name, a default of its type and a kind that n8n knows', () => {
		const kinds: Record<string, string> = {
			string: 'string',
			number: 'number',
			boolean: 'boolean',
			collection: 'object',
			fixedCollection: 'object',
			json: 'string',
		};
		expect(breaking(({ name: own }) => !/^[a-z][A-Za-z]*$/.test(own))).toEqual([]);
		expect(
			breaking((property) => {
				const { type, default: value, typeOptions } = property;
				if (type === 'notice' || type === 'button') return false;
				if (type === 'multiOptions' || typeOptions?.multipleValues) return !Array.isArray(value);
				if (type === 'options') return !choices(property).some((choice) => choice.value === value);
				return typeof value !== (kinds[type] ?? 'string');
			}),
		).toEqual([]);
	});

	test('display names are in Title Case', () => {
		const isNotice = ({ type }: INodeProperties) => type === 'notice';
		expect(
			breaking((property) => !isNotice(property) && wrongWords(property.displayName).length > 0),
		).toEqual([]);
		const names = places.flatMap(({ property }) => choices(property).map((choice) => choice.name));
		expect(names.filter((text) => wrongWords(text).length > 0)).toEqual([]);
	});

	test('descriptions are sentences as n8n writes them', () => {
		const texts = places.flatMap(({ property }) => [
			property.description,
			...choices(property).map((choice) => choice.description),
		]);
		const given = texts.filter((text) => text !== undefined);
		expect(given.filter(wrongEnd)).toEqual([]);
		expect(given.filter((text) => !/^[A-Z]/.test(text) || text !== text.trim())).toEqual([]);
		expect(
			breaking(
				({ type, description: text = '' }) => type === 'boolean' && !text.startsWith('Whether '),
			),
		).toEqual([]);
		expect(
			breaking(
				({ displayName, description: text }) => text?.toLowerCase() === displayName.toLowerCase(),
			),
		).toEqual([]);
	});

	test('texts put the names of parameters in single quotes', async () => {
		const all = await Promise.all(nodeFiles.map(async (each) => await loadNode(each.name)));
		const credential = await loadCredential('leadGenApi');
		const lists = [credential, ...all.map((node) => node.description)];
		const properties = lists.flatMap((list) => everyProperty(list.properties));
		const names = [...new Set(properties.flatMap(({ property }) => namesOf(property)))];
		const wrong = [...places, ...everyProperty(credential.properties)].flatMap(
			({ path, property }) =>
				textsOf(property).flatMap((text) =>
					unquoted(text, names).map((each) => `${path}: ${each}`),
				),
		);
		expect(wrong).toEqual([]);
	});

	test('placeholders are examples, or say what a button adds', () => {
		expect(
			breaking(({ type, placeholder }) =>
				type === 'collection' || type === 'fixedCollection'
					? !/^Add [A-Z]/.test(placeholder ?? '')
					: placeholder !== undefined && !placeholder.startsWith('e.g. '),
			),
		).toEqual([]);
	});

	test('collections with five fields or more are sorted by the names that people see, options by use', () => {
		for (const { path, property } of places) {
			if (name === 'leadGen' && path === 'options') continue;
			const names = inside(property).map(({ displayName }) => displayName);
			expect({ path, names }).toEqual({ path, names: names.length < 5 ? names : sorted(names) });
		}
	});

	test('every limit is the one that n8n users know', () => {
		const limits = places.filter(({ property }) => property.name === 'limit');
		expect(limits.length).toBeGreaterThan(0);
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

	test('conditions name properties and values that exist', () => {
		const wrong = places.flatMap(({ path, property: { displayOptions = {} } }) =>
			[displayOptions.show ?? {}, displayOptions.hide ?? {}].flatMap((conditions) =>
				Object.entries(conditions).flatMap(([key, values = []]) => {
					// n8n's own: whether the node is used as a tool.
					if (key === '@tool') return [];
					const property = places.filter((place) => place.path === key.replace(/^\//, ''));
					if (isDeepStrictEqual(values, [{ _cnd: { exists: true } }])) {
						return property.length > 0 ? [] : [`${path}: ${key}`];
					}
					// Text can be anything; a condition on it names a case that counts.
					if (property.length > 0 && property.every((place) => place.property.type === 'json'))
						return [];
					const known = property.flatMap((place) =>
						place.property.type === 'boolean'
							? [true, false]
							: choices(place.property).map((choice) => choice.value),
					);
					return (values as unknown[])
						.filter((value) => !(known as unknown[]).includes(value))
						.map((value) => `${path}: ${key} = ${String(value)}`);
				}),
			),
		);
		expect(wrong).toEqual([]);
	});

	test('selectors take no expressions', () => {
		const selectors = [
			'resource',
			'operation',
			'mode',
			'schedule',
			'filtersMode',
			'events',
			'splitOutput',
		];
		expect(
			breaking(
				({ name: own, noDataExpression }) => selectors.includes(own) && noDataExpression !== true,
			),
		).toEqual([]);
	});
});

describe('Node leadGen, its operations', () => {
	let node: INodeType;
	let description: INodeTypeDescription;

	beforeAll(async () => {
		node = await loadNode('leadGen');
		({ description } = node);
	});

	const selectors = (name: string) =>
		description.properties.filter((property) => property.name === name);

	test('are those of the table, and each list has a choice to begin with', () => {
		const operations = selectors('operation').flatMap((selector) => {
			const [resource = ''] = (selector.displayOptions?.show?.resource ?? []) as string[];
			return choices(selector).map(({ value }) => `${resource}.${String(value)}`);
		});
		expect(operations).toEqual(OPERATIONS.map((each) => `${each.resource}.${each.operation}`));
		expect(new Set(operations).size).toBe(operations.length);
		for (const selector of [...selectors('resource'), ...selectors('operation')]) {
			expect(choices(selector).map(({ value }) => value)).toContain(selector.default);
		}
	});

	test('have an action in sentence case without an article, and a description', () => {
		for (const choice of selectors('operation').flatMap(choices)) {
			expect(choice.action).toMatch(/^[A-Z][a-z]*( [a-z]+)+$/);
			expect(choice.action).not.toMatch(/\b(a|an|the)\b/i);
			expect(choice.description).toMatch(/^[A-Z].{20}/);
		}
		const actions = selectors('operation')
			.flatMap(choices)
			.map(({ action }) => action);
		expect(new Set(actions).size).toBe(actions.length);
	});

	test('can be used as a tool', () => {
		expect(description.usableAsTool).toBe(true);
		expect(description.inputs).toEqual(['main']);
	});

	test('has one output, or those that the operation splits its results over', async () => {
		for (const { resource, operation, split } of OPERATIONS) {
			const names = split?.outputs;
			const collection = propertiesOf(description, resource, operation).find(
				({ name }) => name === 'options',
			);
			expect(inside(collection).some(({ name }) => name === 'splitOutput')).toBe(
				names !== undefined,
			);
			const choices = [true, false, undefined].flatMap((split) => [
				[split, false] as const,
				[split, true] as const,
			]);
			for (const [splitOutput, dryRun] of choices) {
				const { own, workflow } = workflowOf(node, {
					resource,
					operation,
					...(splitOutput !== undefined && { options: { splitOutput, dryRun } }),
				});
				await workflow.expression.acquireIsolate();
				const outputs = NodeHelpers.getNodeOutputs(workflow, own, description);
				await workflow.expression.releaseIsolate();
				expect(outputs).toEqual(
					splitOutput && names
						? [...names, ...(dryRun ? ['Dry Run'] : [])].map((displayName) => ({
								type: 'main',
								displayName,
							}))
						: ['main'],
				);
			}
		}
	});

	test('have their options in groups: the output, the operation, the cost, the calls', () => {
		const byOperation = OPERATIONS.map(({ resource, operation }) => [
			`${resource}.${operation}`,
			inside(
				propertiesOf(description, resource, operation).find(({ name }) => name === 'options'),
			).map(({ name }) => name),
		]);
		const output = ['includeInput', 'resultField'];
		const calls = ['parallel', 'requestTimeout'];
		const budget = ['includeCost', 'spendAtMost', 'keepCredits', 'dryRun'];
		const lookup = [...budget, 'rememberMinutes', ...calls];
		const person = ['cleanNames', 'errorIfNotFound'];
		const wait = ['failedAsResult', 'pollInterval', 'timeout'];
		expect(Object.fromEntries(byOperation)).toEqual({
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
		});
	});

	test.each(OPERATIONS)(
		'$resource: $operation has options, and no name twice',
		({ resource, operation }) => {
			const properties = propertiesOf(description, resource, operation);
			const collection = properties.find(({ name }) => name === 'options');
			expect(collection).toMatchObject({ type: 'collection', default: {} });
			for (const list of [properties, inside(collection)]) {
				const names = list.map(({ name }) => name);
				expect(names).toEqual([...new Set(names)]);
			}
		},
	);

	test.each(OPERATIONS)(
		'$resource: $operation is documented with every field',
		({ resource, operation }) => {
			const documentation = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8');
			const [, text = ''] = documentation.split('\n## Options of every operation\n');
			const name = choices(
				selectors('operation').find(({ displayOptions }) =>
					displayOptions?.show?.resource?.includes(resource),
				),
			).find(({ value }) => value === operation)?.name;
			const own = documentation.split('\n### ').find((part) => part.startsWith(`${name ?? '?'}\n`));
			const properties = propertiesOf(description, resource, operation);
			const documented =
				[own, text].join('\n') + (operation === 'startAndWait' ? documentation : '');
			const missing = [...properties, ...properties.flatMap(inside)]
				.filter(({ type, name: field }) => type !== 'notice' && field !== 'options')
				.map(({ displayName }) => displayName)
				.filter((displayName) => !documented.includes(displayName));
			expect(own).toBeDefined();
			expect(missing).toEqual([]);
		},
	);

	test('the subtitle of the node is the action of the operation', async () => {
		for (const selector of selectors('operation')) {
			const [resource = ''] = (selector.displayOptions?.show?.resource ?? []) as string[];
			for (const { value: operation, action } of choices(selector)) {
				const { own, workflow } = workflowOf(node, { resource, operation });
				await workflow.expression.acquireIsolate();
				expect(
					workflow.expression.getSimpleParameterValue(own, description.subtitle, 'internal', {}),
				).toBe(action);
				await workflow.expression.releaseIsolate();
			}
		}
	});
});

/** As the editor evaluates it for the canvas. */
test('The subtitle of the trigger says when it starts scrapes', async () => {
	const type = await loadNode('leadGenTrigger');
	const { properties, subtitle } = type.description;
	const subtitleOf = async (parameters: INodeParameters) => {
		const { own, workflow } = workflowOf(type, parameters);
		own.parameters =
			NodeHelpers.getNodeParameters(properties, parameters, true, false, own, type.description) ??
			{};
		await workflow.expression.acquireIsolate();
		const text = workflow.expression.getSimpleParameterValue(own, subtitle, 'internal', {});
		await workflow.expression.releaseIsolate();
		return text;
	};
	const cases: Array<[INodeParameters, string]> = [
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
	];
	for (const [parameters, expected] of cases) expect(await subtitleOf(parameters)).toBe(expected);
});

/** Fixed values: n8n takes any expression for filled in. */
describe('n8n publishes a workflow', () => {
	/** The names of the parameters that n8n calls missing or invalid, by its own check before it publishes. */
	async function refused(parameters: INodeParameters): Promise<string[]> {
		const type = await loadNode('leadGen');
		const { own } = workflowOf(type, parameters);
		const { properties } = type.description;
		own.parameters =
			NodeHelpers.getNodeParameters(properties, parameters, true, false, own, type.description) ??
			{};
		const issues = NodeHelpers.getNodeParametersIssues(properties, own, type.description);
		return Object.keys(issues?.parameters ?? {});
	}
	const linkedinUrl = 'https://www.linkedin.com/in/nathan-smith';
	const business = { resource: 'email', operation: 'findBusiness' };
	const personal = { resource: 'email', operation: 'findPersonal' };
	const enrich = { resource: 'email', operation: 'enrich' };

	test.each<INodeParameters>([
		{ ...business, firstName: 'Nathan', lastName: 'Smith', options: { linkedinUrl } },
		{ ...business, firstName: 'Nathan', lastName: 'Smith', linkedinUrl },
		{ ...business, firstName: 'Nathan', company: 'acme.com' },
		{ ...business, lastName: 'Smith', company: 'acme.com' },
		{ ...enrich, firstName: 'Nathan', lastName: 'Smith', linkedinUrl },
		{ ...enrich, firstName: 'Nathan', company: 'acme.com' },
		{ ...enrich, lastName: 'Smith', linkedinUrl, tryPersonal: true },
		{ ...personal, firstName: 'Nathan', linkedinUrl },
		{ ...personal, lastName: 'Smith' },
		{ ...personal, fullName: 'Nathan Smith' },
		{ ...business, fullName: 'Nathan Smith', company: 'acme.com' },
		{ resource: 'email', operation: 'verify', email: 'nathan@acme.com' },
		{ resource: 'scrape', operation: 'start' },
		{ resource: 'scrape', operation: 'getStatus', scrapeId: 'scr_1' },
		{ resource: 'credit', operation: 'get' },
	])('with %j', async (parameters) => {
		expect(await refused(parameters)).toEqual([]);
	});

	test.each<[INodeParameters, string]>([
		[{ resource: 'email', operation: 'verify' }, 'email'],
		[{ resource: 'scrape', operation: 'getStatus' }, 'scrapeId'],
		[{ resource: 'scrape', operation: 'wait' }, 'scrapeId'],
	])('but not with %j', async (parameters, missing) => {
		expect(await refused(parameters)).toEqual([missing]);
	});
});

/** As the editor decides what it shows. */
describe('The editor says so while no filter is set', () => {
	const base = { resource: 'scrape', operation: 'start', filtersMode: 'fields', filters: {} };
	const json = { ...base, filtersMode: 'json' };

	async function isSaid(name: string, parameters: INodeParameters): Promise<boolean> {
		const type = await loadNode(name);
		const { own } = workflowOf(type, parameters);
		const shown = type.description.properties.filter(
			(property) =>
				property.displayName.startsWith('No filter is set.') &&
				NodeHelpers.displayParameter(own.parameters, property, own, type.description),
		);
		expect(shown.length).toBeLessThan(2);
		return shown.length === 1;
	}

	test.each<INodeParameters>([
		base,
		{ ...base, operation: 'startAndWait' },
		{ ...base, filters: { jobTitles: [] } },
		{ ...base, filters: { jobTitles: [''], locations: [] } },
		{ ...base, filters: { companySize: '' } },
		{ ...json, filtersJson: '{}' },
		{ ...json, filtersJson: '', filters: { jobTitles: ['CTO'] } },
	])('with %j', async (parameters) => {
		expect(await isSaid('leadGen', parameters)).toBe(true);
	});

	test('with the JSON that the editor begins with', async () => {
		const { description } = await loadNode('leadGen');
		const filtersJson = description.properties.find(({ name }) => name === 'filtersJson')?.default;
		expect(await isSaid('leadGen', { ...json, filtersJson })).toBe(true);
	});

	test.each<INodeParameters>([
		{ ...base, filters: { jobTitles: ['CTO'] } },
		{ ...base, filters: { jobTitles: [], locations: ['Austin, Texas'] } },
		{ ...base, filters: { industries: '={{ $json.industries }}' } },
		{ ...base, filters: { companySize: '11-50' } },
		{ ...json, filtersJson: '{ "jobTitles": ["CTO"] }' },
		{ ...json, filtersJson: '{ "industries": ["Software"] }', filters: { jobTitles: ['CTO'] } },
		{ ...base, operation: 'wait' },
		{ ...base, resource: 'email', operation: 'verify' },
	])('and not with %j', async (parameters) => {
		expect(await isSaid('leadGen', parameters)).toBe(false);
	});

	test('and not to an AI agent, which a notice tells how to set one', async () => {
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

	test('in the trigger only where it starts scrapes', async () => {
		const trigger = { mode: 'startScrape', filtersMode: 'fields', filters: {} };
		expect(await isSaid('leadGenTrigger', trigger)).toBe(true);
		expect(await isSaid('leadGenTrigger', { ...trigger, filters: { jobTitles: ['CTO'] } })).toBe(
			false,
		);
		expect(await isSaid('leadGenTrigger', { ...trigger, mode: 'listen' })).toBe(false);
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
		const collections = propertiesOf(description, resource, operation).filter(
			({ type }) => type === 'collection',
		);
		for (const collection of collections) {
			for (const { name, displayName, type } of inside(collection)) {
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
				expect(result.items.map(({ json }) => json.error)).toEqual(
					items.map(() => ({
						message: expect.stringContaining(`${displayName} must be `) as unknown,
						advice: expect.any(String) as unknown,
						field: displayName,
					})),
				);
			}
		}
	});
});

describe('Credential', () => {
	test('is described as the nodes and people need it', async () => {
		const credential = await loadCredential('leadGenApi');
		expect(credential.name).toBe('leadGenApi');
		expect(credential.displayName).toBe('LeadGen API');
		expect(credential.documentationUrl).toMatch(/^https:\/\//);
		expectIcons(credential.iconUrl);
		expect(
			credential.properties.map(({ name, type, default: value, required = false }) => ({
				name,
				type,
				value,
				required,
			})),
		).toEqual([
			{ name: 'baseUrl', type: 'string', value: '', required: true },
			{ name: 'apiKey', type: 'string', value: '', required: true },
			{ name: 'plan', type: 'options', value: 'auto', required: false },
			{ name: 'requestsPerMinute', type: 'number', value: 0, required: false },
			{ name: 'requestsPerMinute', type: 'hidden', value: 0, required: false },
		]);
		const shown = (plan: string) => {
			const credentials = { plan, requestsPerMinute: 240 };
			const { requestsPerMinute } =
				NodeHelpers.getNodeParameters(
					credential.properties,
					credentials,
					true,
					false,
					null,
					null,
				) ?? {};
			return requestsPerMinute;
		};
		// n8n gives the node only what the plan shows. A limit that was saved must not be lost.
		expect(['auto', 'starter', 'pro', 'enterprise'].map(shown)).toEqual([
			240,
			undefined,
			undefined,
			240,
		]);
		const [, apiKey, plan] = credential.properties;
		expect(apiKey?.typeOptions).toEqual({ password: true });
		expect(choices(plan).map(({ value }) => value)).toEqual([
			'auto',
			'starter',
			'pro',
			'enterprise',
		]);
		for (const { displayName, description = '' } of credential.properties) {
			expect(wrongWords(displayName)).toEqual([]);
			expect({ displayName, wrong: wrongEnd(description) }).toEqual({ displayName, wrong: false });
		}
	});
});

describe('Package', () => {
	test('names files that exist', () => {
		const files = [...packageJson.n8n.nodes, ...packageJson.n8n.credentials, packageJson.main];
		expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
		expect(packageJson.n8n.n8nNodesApiVersion).toBe(1);
		expect(packageJson.keywords).toContain('n8n-community-node-package');
		expect(packageJson.name).toBe('n8n-nodes-leadgen');
	});

	test('brings nothing into the n8n of others', () => {
		const { peerDependencies, peerDependenciesMeta, scripts, ...rest } = packageJson;
		expect(peerDependencies).toEqual({ 'n8n-workflow': '*' });
		// Otherwise, npm would install a second n8n-workflow, with packages that do not compile on every Node.js.
		expect(peerDependenciesMeta).toEqual({ 'n8n-workflow': { optional: true } });
		const refused = ['dependencies', 'optionalDependencies', 'bundledDependencies', 'overrides'];
		expect(Object.keys(rest).filter((key) => refused.includes(key))).toEqual([]);
		const hooks = ['prepare', 'preinstall', 'install', 'postinstall', 'prepublish'];
		expect(Object.keys(scripts).filter((script) => hooks.includes(script))).toEqual([]);
	});

	// With the Node.js that npm puts in front for the scripts of the project, and with that of the machine.
	test.each([true, false])('installs with npm as the only package (own Node.js: %s)', (isOwn) => {
		const folder = mkdtempSync(join(tmpdir(), 'leadgen-install-'));
		try {
			const npm = npmIn(folder, isOwn);
			npm('pack', ROOT, '--ignore-scripts');
			const [tarball = ''] = readdirSync(folder);
			// Offline, since nothing must be needed from the registry.
			const output = npm('install', `./${tarball}`, '--offline', '--no-audit');
			expect(output).toMatch(/^added 1 package in/m);
			const installed = readdirSync(join(folder, 'node_modules'));
			expect(installed).toEqual(['.package-lock.json', 'n8n-nodes-leadgen']);
		} finally {
			rmSync(folder, { recursive: true });
		}
	});

	test('publishes what n8n runs, and nothing else', () => {
		const output = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
			cwd: ROOT,
			encoding: 'utf8',
			stdio: ['ignore', 'pipe', 'ignore'],
			shell: process.platform === 'win32',
		});
		const [{ files }] = JSON.parse(output) as [{ files: Array<{ path: string }> }];
		const paths = files.map(({ path }) => path);
		const allowed =
			/^(package\.json|index\.js|README\.md|LICENSE(\.md)?|CHANGELOG\.md|dist\/(nodes|credentials)\/.+\.(js|json|svg))$/;
		expect(paths.filter((path) => !allowed.test(path))).toEqual([]);
		expect(paths).toEqual(
			expect.arrayContaining([
				'package.json',
				'index.js',
				'LICENSE.md',
				...packageJson.n8n.nodes,
				...packageJson.n8n.nodes.map((file) => file.replace(/\.js$/, '.json')),
				...packageJson.n8n.credentials,
			]),
		);
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
