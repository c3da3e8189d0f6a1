import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
	NodeHelpers,
	type INode,
	type INodeParameters,
	type INodeProperties,
	type INodeTypeDescription,
} from 'n8n-workflow';
import { loadNode } from './engine';

/** What each release saved: `workflows/`, and `defaults.json`, which a workflow does not hold. */
const RELEASES = join(__dirname, 'releases');

const read = (...path: string[]): unknown =>
	JSON.parse(readFileSync(join(RELEASES, ...path), 'utf8'));

const nodes: Record<string, INodeTypeDescription> = {};
beforeAll(async () => {
	for (const name of ['leadGen', 'leadGenTrigger']) {
		nodes[`n8n-nodes-leadgen.${name}`] = (await loadNode(name)).description;
	}
});

/** The defaults of all fields, by where they are shown and what they are called. */
function defaultsOf({ properties }: INodeTypeDescription): Record<string, unknown> {
	const defaults: Record<string, unknown> = {};
	const add = (property: INodeProperties, place: string) => {
		defaults[`${place}${property.name}`] = property.default;
		for (const inner of property.options ?? []) {
			if ('type' in inner) add(inner, `${place}${property.name}.`);
		}
	};
	for (const property of properties) {
		if (property.type === 'notice') continue;
		const { resource = [], operation = [] } = property.displayOptions?.show ?? {};
		const place = [...(resource as string[]), ...(operation as string[])].join('.');
		add(property, place === '' ? '' : `${place}: `);
	}
	return defaults;
}

describe.each(readdirSync(RELEASES))('What was saved with %s', (release) => {
	const files = readdirSync(join(RELEASES, release, 'workflows'));

	test.each(files)('works as before: %s', (file) => {
		const workflow = read(release, 'workflows', file) as { nodes: INode[] };
		const own = workflow.nodes.filter(({ type }) => type.replace(/Tool$/, '') in nodes);
		expect(own.length).toBeGreaterThan(0);
		for (const node of own) {
			const description = nodes[node.type.replace(/Tool$/, '')];
			if (!description) throw new Error(`${node.type} is not there`);
			const parameters = NodeHelpers.getNodeParameters(
				description.properties,
				node.parameters,
				true,
				false,
				node,
				description,
			);
			// Nothing is dropped or changed; fields that were added since have their defaults.
			expect(parameters).toMatchObject(withoutToolFields(node.parameters));
			expect(
				NodeHelpers.getNodeParametersIssues(description.properties, node, description),
			).toBeNull();
		}
	});

	test('finds every operation', () => {
		const saved = read(release, 'defaults.json') as Record<string, Record<string, unknown>>;
		const places = Object.keys(saved['n8n-nodes-leadgen.leadGen'] ?? {});
		const selectors = nodes['n8n-nodes-leadgen.leadGen']?.properties.filter(
			({ name }) => name === 'operation',
		);
		const matches = places.flatMap((place) => [...place.matchAll(/^(\w+)\.(\w+): options$/g)]);
		expect(matches.length).toBeGreaterThan(0);
		for (const [, resource = '', operation] of matches) {
			const selector = selectors?.find((each) =>
				each.displayOptions?.show?.resource?.includes(resource),
			);
			expect(selector?.options).toContainEqual(expect.objectContaining({ value: operation }));
		}
	});

	test('has the same defaults', () => {
		const saved = read(release, 'defaults.json') as Record<string, Record<string, unknown>>;
		for (const [type, defaults] of Object.entries(saved)) {
			const description = nodes[type];
			expect(description && defaultsOf(description)).toMatchObject(defaults);
		}
	});
});

/** n8n adds two fields to a node that is used as a tool. */
function withoutToolFields(parameters: INodeParameters): INodeParameters {
	const own = Object.entries(parameters).filter(
		([name]) => !['descriptionType', 'toolDescription'].includes(name),
	);
	return Object.fromEntries(own);
}
