/** What the editor, n8n's checks and npm get of the package. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { inspect } from 'node:util';
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
import { containing, errorOf, someText } from './expected';
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

/** Every field and option that an operation can show. */
function everyFieldOf({ properties }: INodeTypeDescription, operation: string) {
	const collection = properties.find(({ name }) => name === 'options');
	const own = [...properties, ...inside(collection)].filter(({ displayOptions }) => {
		const { show } = displayOptions ?? {};
		return (show?.operation ?? show?.['/operation'])?.includes(operation);
	});
	return [...own, ...own.flatMap(inside)].filter(({ type }) => type !== 'notice');
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

const n8nRules = createRequire(__filename)('eslint-plugin-n8n-nodes-base') as ESLint.Plugin & {
	configs: { nodes: { rules: Linter.RulesRecord } };
};
/** Rules for sources, or not for us: lists are in the order of their use, and a scrape returns no leads. */
const NOT_FOR_US = [
	...['type-options-max-value-present', 'display-name-not-first-position'],
	...['description-unneeded-backticks', 'description-wrong-for-limit'],
	...['options-type-unsorted-items', 'collection-type-unsorted-items'],
].map((name) => [`n8n-nodes-base/node-param-${name}`, 'off'] as const);
const rules = { ...n8nRules.configs.nodes.rules, ...Object.fromEntries(NOT_FOR_US) };

/** What n8n's rules say of properties as code. In the sources, they do not see what functions put together. */
function problemsOf(properties: INodeProperties[]): string[] {
	const all = { depth: Infinity, maxArrayLength: Infinity, maxStringLength: Infinity };
	const text = inspect(properties, { ...all, breakLength: Infinity, compact: true });
	const code = `class A implements INodeType { description: INodeTypeDescription = { properties: ${text} } }`;
	const plugins = { 'n8n-nodes-base': n8nRules };
	const config = { files: ['**'], plugins, languageOptions: { parser }, rules };
	return new Linter()
		.verify(code, config as Linter.Config, 'nodes/LeadGen/LeadGen.node.ts')
		.map(({ ruleId, message, column, endColumn }) =>
			[ruleId, message, code.slice(column - 1, endColumn)].join(': '),
		);
}

test.each([...NODES, 'leadGenApi'])(
	'In %s, every property is as the rules of n8n want it',
	async (name) => {
		const { properties } =
			name === 'leadGenApi' ? await loadCredential(name) : (await loadNode(name)).description;
		expect(problemsOf(properties)).toEqual([]);
	},
);

describe('Node leadGen, its operations', () => {
	let node: INodeType;
	let description: INodeTypeDescription;

	beforeAll(async () => {
		node = await loadNode('leadGen');
		({ description } = node);
	});

	test('are in the order of their use, and the first one is selected with its resource', () => {
		const names: Record<string, string[]> = {};
		for (const { resource, name } of OPERATIONS) (names[resource] ??= []).push(name);
		expect(names).toEqual({
			email: ['Find and Verify', 'Find Business Email', 'Find Personal Email', 'Verify'],
			scrape: ['Start', 'Start and Wait', 'Wait Until Finished', 'Get Status'],
			credit: ['Get Balance'],
		});
	});

	test('have values of their own, because their fields are shown by the operation alone', () => {
		const values = OPERATIONS.map(({ operation }) => operation);
		expect(values).toEqual([...new Set(values)]);
	});

	describe.each(OPERATIONS)('$resource: $operation', ({ resource, operation, ...own }) => {
		test('has one output, or those that it splits its results over', async () => {
			const { split } = own;
			const dryRunOutput = { type: 'main', displayName: 'Dry Run' };
			const cases: Array<[INodeParameters | undefined, unknown[] | undefined]> = [
				[undefined, undefined],
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

		test('is documented with every field', () => {
			const documentation = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8');
			const [, common = ''] = documentation.split('\n## Options of every operation\n');
			const section = documentation
				.split('\n### ')
				.find((part) => part.startsWith(`${own.name}\n`));
			expect(section).toBeDefined();
			const all = operation === 'startAndWait' ? documentation : '';
			const documented = [section, common, all].join('\n');
			const fields = everyFieldOf(description, operation);
			const names = fields.map(({ displayName }) => displayName);
			expect(names.filter((displayName) => !documented.includes(displayName))).toEqual([]);
		});
	});

	describe.each(['leadGen', 'leadGenTool'])('show as %s', (name) => {
		const notForTools = ['includeInput', 'resultField', 'splitOutput', 'dryRun'];
		// The options of each group are in this order: output, operation, cost, calls.
		const output = ['includeInput', 'resultField'];
		const email = [...output, 'splitOutput'];
		const lookup = ['maxPaidCalls', 'dryRun', 'rememberMinutes', 'requestTimeout'];
		const start = ['maxPaidCalls', 'dryRun', 'requestTimeout'];
		const poll = ['pollInterval', 'timeout'];
		const names = ['nameFormat', 'firstName', 'lastName'];
		const enrich = ['company', 'linkedinUrl', 'accept', 'tryPersonal'];
		const business = [...email, 'minConfidence', ...lookup];
		const both = [...email, 'location', 'minConfidence', ...lookup];
		const byExpression = { nameFormat: '={{ $json.chosen }}', tryPersonal: '={{ $json.chosen }}' };
		const json = { filtersMode: 'json' };

		test.each<[operation: string, INodeParameters, fields: string[], options: string[]]>([
			['enrich', {}, ['notice', ...names, ...enrich], business],
			['enrich', { tryPersonal: true }, ['notice', ...names, ...enrich], both],
			['enrich', byExpression, ['notice', ...names, 'fullName', ...enrich], both],
			[
				'findBusiness',
				{ nameFormat: 'full' },
				['nameFormat', 'fullName', 'company', 'linkedinUrl'],
				[...email, ...lookup],
			],
			['findPersonal', {}, [...names, 'linkedinUrl'], [...email, 'location', ...lookup]],
			['verify', {}, ['email'], [...email, ...lookup]],
			[
				'start',
				{},
				['notice', 'filtersMode', 'filters', 'limit'],
				[...output, 'webhookUrl', ...start],
			],
			[
				'startAndWait',
				json,
				['notice', 'filtersMode', 'filtersJson', 'limit'],
				[...output, 'webhookUrl', ...poll, ...start],
			],
			['wait', {}, ['scrapeId'], [...output, ...poll]],
			['getStatus', {}, ['scrapeId'], output],
			['get', {}, [], output],
		])('%s with %j', (operation, parameters, fields, options) => {
			const resource = OPERATIONS.find((each) => each.operation === operation)?.resource ?? '';
			const shown = shownOf({ ...description, name }, { resource, operation, ...parameters });
			expect(shown.fields.map((field) => field.name)).toEqual(fields);
			const isThere = (option: string) => name === 'leadGen' || !notForTools.includes(option);
			expect(shown.options.map((option) => option.name)).toEqual(options.filter(isThere));
			// n8n publishes no workflow if one of these is empty.
			const required = shown.fields.filter((field) => field.required);
			const isNeeded = (field: string) => field === 'email' || field === 'scrapeId';
			expect(required.map((field) => field.name)).toEqual(fields.filter(isNeeded));
		});
	});
});

test.each<[INodeParameters, string]>([
	[{}, 'Start scrapes'],
	[{ schedule: 'weekly' }, 'Start scrapes'],
	[{ mode: 'listen', schedule: 'weekly' }, 'Receive completions'],
])('The subtitle of the trigger names its mode: %j', async (parameters, expected) => {
	expect(await subtitleOf(await loadNode('leadGenTrigger'), parameters)).toBe(expected);
});

test.each<[INodeParameters, fields: string[]]>([
	[{}, []],
	[{ schedule: 'hourly' }, ['triggerAtMinute']],
	[{ schedule: 'daily' }, ['triggerAtHour', 'triggerAtMinute']],
	[{ schedule: 'weekly' }, ['triggerAtWeekday', 'triggerAtHour', 'triggerAtMinute']],
	[{ schedule: 'monthly' }, ['triggerAtDayOfMonth', 'triggerAtHour', 'triggerAtMinute']],
	[{ schedule: 'cron' }, ['cronExpression']],
	[{ mode: 'listen' }, []],
])(
	'The trigger shows the fields of its start, and no others, with %j',
	async (parameters, times) => {
		const { fields, options } = shownOf((await loadNode('leadGenTrigger')).description, parameters);
		const start = ['startScrapeNotice', 'filtersMode', 'filters', 'limit', 'schedule', ...times];
		const isListening = parameters.mode === 'listen';
		expect([...fields, ...options].map(({ name }) => name)).toEqual([
			...['mode', ...(isListening ? ['listenNotice'] : start), 'events', 'output', 'internalUrl'],
			...(isListening ? [] : ['testLimit']),
			'testScrapeId',
		]);
	},
);

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
	const service = useService({ plan: 'enterprise' });
	/** Switches; each has tests of what it does. */
	const SWITCHES = ['dryRun', 'includeInput', 'splitOutput'];

	/** What each operation needs to succeed at once. */
	async function parametersOf(resource: string, operation: string): Promise<INodeParameters> {
		service.sandbox.set({ job: { durationMs: 0 } });
		const scrapeId = await service.startJob();
		const email = '={{ $json.first }}@acme.com';
		return { resource, operation, ...person, email, tryPersonal: true, scrapeId };
	}

	describe.each(OPERATIONS)('$resource: $operation', ({ resource, operation }) => {
		test('reads every option', async () => {
			const parameters = await parametersOf(resource, operation);
			const { options } = shownOf((await loadNode('leadGen')).description, parameters);
			expect(options.length).toBeGreaterThan(0);
			const switches = options.filter(({ type }) => type === 'boolean');
			expect(SWITCHES).toEqual(expect.arrayContaining(switches.map(({ name }) => name)));
			for (const { name, displayName } of options.filter((each) => !switches.includes(each))) {
				const wrong = { ...parameters, options: { [name]: '={{ ({ no: "value" }) }}' } };
				const list = people('Ann Sure', 'Bob Sure');
				const { items } = await service.run([resource, operation], wrong, list, keepGoing);
				const message = containing(`${displayName} must be `);
				const facts = { field: displayName, outcome: 'notSent', paidCalls: 0 };
				const error = { message, advice: someText, ...facts };
				expect(items.map(errorOf)).toEqual([error, error]);
			}
		});

		test('has the fields that the editor shows before the first run', async () => {
			const parameters = await parametersOf(resource, operation);
			const list = people('Valid Sure', 'Invalid Low', 'Tom Nobody');
			const { items } = await service.run([resource, operation], parameters, list);
			expect(items).toHaveLength(list.length);
			// Beside the built node, where n8n looks for them.
			const nodeDir = join(ROOT, 'dist/nodes/LeadGen');
			const schema = loadOutputSchema({ nodeDir, version: 1, resource, operation });
			expect(schema).toEqual({ ...schemaOf(items.map(({ json }) => json)), version: 1 });
		});
	});
});

describe('The package', () => {
	let folder: string;
	let packed: { filename: string; files: Array<{ path: string }> };

	beforeAll(() => {
		folder = mkdtempSync(join(tmpdir(), 'leadgen-package-'));
		const output = npm(ROOT, 'pack', '--json', '--ignore-scripts', `--pack-destination=${folder}`);
		[packed] = JSON.parse(output) as [typeof packed];
	});
	afterAll(() => {
		rmSync(folder, { recursive: true });
	});

	test('installs as the only package', () => {
		const target = mkdtempSync(join(folder, 'install-'));
		// Offline, since nothing must be needed from the registry.
		npm(target, 'install', join(folder, packed.filename), '--offline', '--no-audit');
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
		const described = NODES.map(async (name) => (await loadNode(name)).description);
		const all = [...(await Promise.all(described)), await loadCredential('leadGenApi')];
		const icons = all.flatMap(({ iconUrl }) => Object.values(iconUrl as Record<string, string>));
		expect(icons).toHaveLength(6);
		const files = icons.map((url) => url.replace(`icons/${packageJson.name}/`, ''));
		const main = ['package.json', packageJson.main, 'index.js', 'LICENSE.md'];
		const needed = [...main, ...nodes, ...codexes, ...credentials, ...files];
		expect(paths).toEqual(expect.arrayContaining(needed));
	});
});

/** Runs npm in a folder, without the settings that it got for the scripts of the project. */
function npm(cwd: string, ...args: string[]): string {
	const settings = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name));
	const env = Object.fromEntries(settings);
	return execFileSync('npm', args, { cwd, env, encoding: 'utf8' });
}
