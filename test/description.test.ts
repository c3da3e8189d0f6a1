/** What the editor, n8n's checks and npm get of the package. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { Linter, type ESLint } from 'eslint';
import { loadOutputSchema } from 'n8n-core';
import {
	NodeHelpers,
	type INodeParameters,
	type INodeProperties,
	type INodeType,
	type INodeTypeDescription,
} from 'n8n-workflow';
import { parser } from 'typescript-eslint';
import packageJson from '../package.json';
import { loadCredential, loadNode, workflowOf } from './engine';
import { containing, errorOf, someText } from './expected';
import { START, keepGoing, people, person } from './given';
import { useService } from './service';

const ROOT = join(__dirname, '..');

const NODES = ['leadGen', 'leadGenTrigger'];
const found = ['Found', 'Not Found'];

/** The operations in the order of their use, each with its name, its subtitle, and the outputs that it can have. */
const OPERATIONS: Array<[resource: string, operation: string, string, string, string[]?]> = [
	['email', 'enrich', 'Find and Verify', 'Find and verify email', found],
	['email', 'findBusiness', 'Find Business Email', 'Find business email', found],
	['email', 'findPersonal', 'Find Personal Email', 'Find personal email', found],
	['email', 'verify', 'Verify', 'Verify email address', ['Valid', 'Risky', 'Invalid']],
	['scrape', 'start', 'Start', 'Start scrape'],
	['scrape', 'startAndWait', 'Start and Wait', 'Start scrape and wait'],
	['scrape', 'wait', 'Wait Until Finished', 'Wait for scrape'],
	['scrape', 'getStatus', 'Get Status', 'Get scrape status'],
	['credit', 'get', 'Get Balance', 'Get credit balance'],
];

/** The properties inside a collection, in their order. */
function inside(property: INodeProperties | undefined): INodeProperties[] {
	return (property?.options ?? []).filter((option) => 'type' in option);
}

/**
 * The fields that the editor shows, and then the options that can be added, as n8n decides it.
 * @param parameters what the workflow saved; the rest has its default
 */
function shownOf(description: INodeTypeDescription, parameters: INodeParameters) {
	const { properties } = description;
	const values = NodeHelpers.getNodeParameters(
		...([properties, parameters, true, false, null, description] as const),
	);
	const root = values ?? {};
	const isShown = (property: INodeProperties, within = root) =>
		NodeHelpers.displayParameter(within, property, null, description, root);
	const others = ['resource', 'operation', 'options'];
	const collection = properties.find(({ name }) => name === 'options');
	const fields = properties.filter(({ name }) => !others.includes(name));
	const shown = fields.filter((field) => isShown(field));
	const options = root.options as INodeParameters | undefined;
	return [...shown, ...inside(collection).filter((option) => isShown(option, options))];
}

/** What the editor computes for a node with these parameters: its subtitle, outputs and hidden webhook URLs. */
async function computedOf(type: INodeType, parameters: INodeParameters) {
	const { description } = type;
	const { node, workflow } = workflowOf(type, parameters);
	const { expression } = workflow;
	const compute = () => ({
		subtitle: expression.getSimpleParameterValue(node, description.subtitle, 'internal', {}),
		outputs: NodeHelpers.getNodeOutputs(workflow, node, description),
		hidesUrls: description.webhooks?.map(({ ndvHideUrl }) =>
			expression.getSimpleParameterValue(node, ndvHideUrl, 'internal', {}),
		),
	});
	return await expression.withIsolate(() => Promise.resolve(compute()));
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

describe('The operations of the node', () => {
	let node: INodeType;
	beforeAll(async () => {
		node = await loadNode('leadGen');
	});

	test('are in the lists of their resources, and the first one is selected', () => {
		expect(node.description.properties[0]).toMatchObject({ name: 'resource', default: 'email' });
		const lists = node.description.properties.filter(({ name }) => name === 'operation');
		const listed = lists.flatMap(({ displayOptions, options = [], default: selected }) => {
			expect(options[0]).toMatchObject({ value: selected });
			const [resource] = displayOptions?.show?.resource ?? [];
			return options.map((each) => ({ resource, ...each }));
		});
		expect(listed).toEqual(
			OPERATIONS.map(([resource, value, name, action]) => {
				return { resource, value, name, action, description: someText };
			}),
		);
	});

	test('can be tools of an AI agent', () => {
		expect(node.description.usableAsTool).toBe(true);
	});

	test('have values of their own, because their fields are shown by the operation alone', () => {
		const values = OPERATIONS.map(([, operation]) => operation);
		expect(values).toEqual([...new Set(values)]);
	});

	test.each(OPERATIONS)('%s: %s has its subtitle and its outputs', async (...given) => {
		const [resource, operation, , subtitle, split] = given;
		const named = (names: string[]) => names.map((displayName) => ({ type: 'main', displayName }));
		const cases: Array<[INodeParameters, outputs: unknown[]]> = [
			[{}, ['main']],
			[{ dryRun: true }, ['main']],
			[{ splitOutput: true }, split ? named(split) : ['main']],
			[{ splitOutput: true, dryRun: true }, split ? named([...split, 'Dry Run']) : ['main']],
		];
		for (const [options, outputs] of cases) {
			const computed = await computedOf(node, { resource, operation, options });
			expect(computed).toEqual({ subtitle, outputs });
		}
	});

	const everywhere = OPERATIONS.map(([, operation]) => operation);
	const finders = ['enrich', 'findBusiness', 'findPersonal'];
	const lookups = [...finders, 'verify'];
	const starts = ['start', 'startAndWait'];
	const full = { nameFormat: 'full' };
	const json = { filtersMode: 'json' };
	/** With an expression, nobody knows the value yet. */
	const perItem = { nameFormat: '={{ $json.a }}', tryPersonal: '={{ $json.b }}' };

	test.each<[INodeParameters, operations: string[], fields: string[]]>([
		[{}, everywhere, ['includeInput', 'resultField']],
		[{}, finders, ['nameFormat', 'firstName', 'lastName', 'linkedinUrl']],
		[{}, ['enrich', 'findBusiness'], ['company']],
		[{}, ['findPersonal'], ['location']],
		[{}, ['enrich'], ['accept', 'tryPersonal', 'minConfidence']],
		[{}, ['verify'], ['email']],
		[{}, lookups, ['splitOutput', 'rememberMinutes']],
		[{}, [...lookups, ...starts], ['maxPaidCalls', 'dryRun', 'requestTimeout']],
		[{}, starts, ['filtersMode', 'filters', 'limit', 'webhookUrl']],
		[{}, ['enrich', ...starts], ['notice']],
		[{}, ['startAndWait', 'wait'], ['pollInterval', 'timeout']],
		[{}, ['wait', 'getStatus'], ['scrapeId']],
		[{}, [], ['fullName', 'filtersJson']],
		[full, finders, ['fullName']],
		[full, [], ['firstName', 'lastName']],
		[perItem, finders, ['firstName', 'lastName', 'fullName']],
		[json, starts, ['filtersJson']],
		[json, [], ['filters']],
		[{ tryPersonal: true }, ['enrich', 'findPersonal'], ['location']],
		[perItem, ['enrich', 'findPersonal'], ['location']],
	])('with %j, %j show %j', (parameters, operations, fields) => {
		// What an AI agent has no use for.
		const notForTools = ['includeInput', 'resultField', 'splitOutput', 'dryRun'];
		const showing = (field: string, name: string) =>
			OPERATIONS.flatMap(([resource, operation]) => {
				const given = { resource, operation, ...parameters };
				const shown = shownOf({ ...node.description, name }, given);
				return shown.some((each) => each.name === field) ? operation : [];
			});
		for (const field of fields) {
			expect([field, showing(field, 'leadGen')]).toEqual([field, operations]);
			const byTool = notForTools.includes(field) ? [] : operations;
			expect([field, showing(field, 'leadGenTool')]).toEqual([field, byTool]);
		}
	});

	test('have these fields and options in this order, and require two of them', () => {
		const options = node.description.properties.find(({ name }) => name === 'options');
		const all = [...node.description.properties, ...inside(options)];
		const names = all.map(({ name }) => name).filter((name) => name !== 'operation');
		expect(names.join(' ')).toBe(
			'resource notice nameFormat firstName lastName fullName company linkedinUrl accept tryPersonal email ' +
				'notice filtersMode filters filtersJson limit scrapeId options includeInput resultField splitOutput location ' +
				'minConfidence location webhookUrl pollInterval timeout maxPaidCalls dryRun rememberMinutes requestTimeout',
		);
		const required = all.filter((field) => field.required);
		expect(required.map(({ name }) => name)).toEqual(['email', 'scrapeId']);
		const fixed = new Set(all.flatMap((field) => (field.noDataExpression ? field.name : [])));
		expect([...fixed]).toEqual(['resource', 'operation', 'filtersMode', 'splitOutput']);
		// n8n does not save a default, so a workflow that was saved would get another one.
		const numbers = all.filter(({ type }) => type === 'number');
		expect(Object.fromEntries(numbers.map((field) => [field.name, field.default]))).toEqual({
			...{ limit: 50, minConfidence: 0, pollInterval: 5, timeout: 60 },
			...{ maxPaidCalls: '', rememberMinutes: 15, requestTimeout: 300 },
		});
	});

	test.each(OPERATIONS)('%s: %s is documented with every field', (resource, operation, heading) => {
		const page = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8');
		const [, common = ''] = page.split('\n## Options of every operation\n');
		const section = page.split('\n### ').find((part) => part.startsWith(`${heading}\n`)) ?? '';
		expect(section).not.toBe('');
		const documented = operation === 'startAndWait' ? page : section + common;
		const parameters = { resource, operation, ...perItem };
		const fields = ['fields', 'json']
			.flatMap((filtersMode) => shownOf(node.description, { ...parameters, filtersMode }))
			.filter(({ type }) => type !== 'notice');
		const names = [...fields, ...fields.flatMap(inside)].map(({ displayName }) => displayName);
		expect(names.filter((displayName) => !documented.includes(displayName))).toEqual([]);
	});
});

test('The nodes require a credential, which detects the plan, or asks for a limit where a plan has none', async () => {
	const credentials = [{ name: 'leadGenApi', required: true }];
	for (const name of NODES)
		expect((await loadNode(name)).description).toMatchObject({ credentials });
	const { properties } = await loadCredential('leadGenApi');
	const { options, default: preset } = properties.find(({ name }) => name === 'plan') ?? {};
	expect(preset).toBe('auto');
	const plans = ['auto', 'starter', 'pro', 'enterprise'];
	expect(options).toMatchObject(plans.map((value) => ({ value })));
	const isLimited = (plan: string) =>
		properties.every((each) => NodeHelpers.displayParameter({ plan }, each, null, null));
	expect(plans.filter(isLimited)).toEqual(['enterprise']);
});

test.each<[INodeParameters, subtitle: string, fields: string[]]>([
	[{}, 'Start scrapes', []],
	[{ schedule: 'hourly' }, 'Start scrapes', ['triggerAtMinute']],
	[{ schedule: 'daily' }, 'Start scrapes', ['triggerAtHour', 'triggerAtMinute']],
	[
		{ schedule: 'weekly' },
		'Start scrapes',
		['triggerAtWeekday', 'triggerAtHour', 'triggerAtMinute'],
	],
	[
		{ schedule: 'monthly' },
		'Start scrapes',
		['triggerAtDayOfMonth', 'triggerAtHour', 'triggerAtMinute'],
	],
	[{ schedule: 'cron' }, 'Start scrapes', ['cronExpression']],
	[{ mode: 'listen', schedule: 'weekly', output: 'leads' }, 'Receive completions', []],
])('The trigger has its subtitle and the fields of its start with %j', async (...given) => {
	const [parameters, subtitle, times] = given;
	const trigger = await loadNode('leadGenTrigger');
	const hidesUrls = [parameters.mode !== 'listen', true];
	expect(await computedOf(trigger, parameters)).toMatchObject({ subtitle, hidesUrls });
	const names = shownOf(trigger.description, parameters).map(({ name }) => name);
	const start = ['startScrapeNotice', 'filtersMode', 'filters', 'limit', 'schedule', ...times];
	expect(names).toEqual(
		parameters.mode === 'listen'
			? ['mode', 'listenNotice', 'events', 'output', 'internalUrl', 'leadsField', 'testScrapeId']
			: ['mode', ...start, 'events', 'output', 'internalUrl', 'testLimit', 'testScrapeId'],
	);
});

/** A schema of the fields that the editor shows of a node that has not run yet. */
interface JsonSchema {
	type: string;
	properties?: Record<string, JsonSchema>;
	items?: JsonSchema;
}

/** The types of the values, by their paths, such as `.sources[]: string`. */
function typesOf(value: unknown, path = ''): string[] {
	if (Array.isArray(value)) return value.flatMap((each) => typesOf(each, `${path}[]`));
	if (typeof value !== 'object') return [`${path}: ${typeof value}`];
	return Object.entries(value ?? {}).flatMap(([name, each]) => typesOf(each, `${path}.${name}`));
}

/** The same as a schema of n8n says them. */
function typesIn({ type, properties, items }: JsonSchema, path = ''): string[] {
	if (items) return typesIn(items, `${path}[]`);
	if (!properties) return [`${path}: ${type}`];
	return Object.entries(properties).flatMap(([name, each]) => typesIn(each, `${path}.${name}`));
}

describe('In a run', () => {
	const service = useService({ plan: 'enterprise' });
	/** What each operation needs to succeed at once. */
	async function parametersOf(resource: string, operation: string): Promise<INodeParameters> {
		service.sandbox.set({ job: { durationMs: 0 } });
		const { items } = await service.run(START, { limit: 1 }, [{}]);
		const scrapeId = items[0]?.json.scrapeId as string;
		const email = '={{ $json.first }}@acme.com';
		return { resource, operation, ...person, email, tryPersonal: true, scrapeId };
	}

	test.each(OPERATIONS)('%s: %s reads every option', async (resource, operation) => {
		const parameters = await parametersOf(resource, operation);
		const { description } = await loadNode('leadGen');
		const { options } = description.properties.find(({ name }) => name === 'options') ?? {};
		const shown = shownOf(description, parameters).filter((each) => options?.includes(each));
		expect(shown).not.toEqual([]);
		for (const { name, displayName } of shown) {
			const wrong = { ...parameters, options: { [name]: '={{ ({ no: "value" }) }}' } };
			const list = people('Ann Sure', 'Bob Sure');
			const { outputs } = await service.run([resource, operation], wrong, list, keepGoing);
			const facts = { field: displayName, outcome: 'notSent', paidCalls: 0 };
			const error = { message: containing(`${displayName} must be `), advice: someText, ...facts };
			expect(outputs.flat().map(errorOf)).toEqual([error, error]);
		}
	});

	test.each(OPERATIONS)(
		'%s: %s has the fields that the editor shows before it',
		async (...given) => {
			const [resource, operation] = given;
			const parameters = await parametersOf(resource, operation);
			const list = people('Valid Sure', 'Invalid Low', 'Tom Nobody');
			const { items } = await service.run([resource, operation], parameters, list);
			expect(items).toHaveLength(list.length);
			// Beside the built node, where n8n looks for them.
			const nodeDir = join(ROOT, 'dist/nodes/LeadGen');
			const schema = loadOutputSchema({ nodeDir, version: 1, resource, operation });
			const types = new Set(items.flatMap(({ json }) => typesOf(json)));
			expect(typesIn(schema as unknown as JsonSchema).toSorted()).toEqual([...types].toSorted());
		},
	);
});

test('The package needs no other package', () => {
	expect(packageJson).not.toHaveProperty('dependencies');
	expect(packageJson).not.toHaveProperty('optionalDependencies');
	// n8n brings it.
	expect(packageJson.peerDependencies).toEqual({ 'n8n-workflow': '*' });
	expect(packageJson.peerDependenciesMeta).toEqual({ 'n8n-workflow': { optional: true } });
});

test('The package holds what n8n runs, and nothing else', async () => {
	const options = { cwd: ROOT, encoding: 'utf8' } as const;
	const packed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], options);
	const [{ files }] = JSON.parse(packed) as [{ files: Array<{ path: string }> }];
	const paths = files.map(({ path }) => path);
	const allowed =
		/^(package\.json|index\.js|README\.md|LICENSE(\.md)?|CHANGELOG\.md|dist\/(nodes|credentials)\/.+\.(js|json|svg))$/;
	expect(paths.filter((path) => !allowed.test(path))).toEqual([]);

	const { nodes, credentials } = packageJson.n8n;
	const codexes = nodes.map((file) => file.replace(/\.js$/, '.json'));
	const described = await Promise.all(
		NODES.map(async (name) => (await loadNode(name)).description),
	);
	const all = [...described, await loadCredential('leadGenApi')];
	const icons = all.flatMap(({ iconUrl }) => Object.values(iconUrl as Record<string, string>));
	expect(icons).toHaveLength(6);
	const iconFiles = icons.map((url) => url.replace(`icons/${packageJson.name}/`, ''));
	const main = ['package.json', packageJson.main, 'index.js', 'LICENSE.md'];
	const needed = [...main, ...nodes, ...codexes, ...credentials, ...iconFiles];
	expect(paths).toEqual(expect.arrayContaining(needed));
});
