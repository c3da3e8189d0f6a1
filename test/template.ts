/** The nodes of a template that do not need n8n: Code nodes, and the LeadGen node on n8n's engine. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInThisContext } from 'node:vm';
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import type { NodeRun } from './engine';
import type { useService } from './service';

export interface Item {
	json: IDataObject;
	binary?: object;
}

interface TemplateNode {
	name: string;
	onError?: 'continueRegularOutput';
	parameters: INodeParameters & Record<'jsCode' | 'resource' | 'operation', string>;
}

type Code = (this: object, input: object, nodes: object) => Promise<Item[]>;

export class Template {
	private readonly nodes: TemplateNode[];

	constructor(
		name: string,
		private readonly service: ReturnType<typeof useService>,
	) {
		const text = readFileSync(join(__dirname, '../examples', `${name}.json`), 'utf8');
		({ nodes: this.nodes } = JSON.parse(text) as { nodes: TemplateNode[] });
	}

	/** Runs a Code node, with the items of those before it. */
	async code(
		name: string,
		items: Item[],
		earlier: Record<string, Item[]> = {},
		helpers: object = {},
	): Promise<Item[]> {
		const code = runInThisContext(
			`(async function ($input, $) {${this.node(name).parameters.jsCode}})`,
		) as Code;
		const of = (all: Item[]) => ({ all: () => all, first: () => all[0] });
		const nodes = (node: string) => ({
			...of(earlier[node] ?? []),
			params: this.node(node).parameters,
		});
		return await code.call({ helpers }, of(items), nodes);
	}

	/** Runs a LeadGen node. */
	async leadGen(
		name: string,
		items: Item[],
		options: INodeParameters = {},
		run: Partial<NodeRun> = {},
	): Promise<Item[]> {
		const { onError, parameters } = this.node(name);
		const { resource, operation, ...others } = parameters;
		const result = await this.service.run(
			[resource, operation],
			{ ...others, options: { ...(others.options as INodeParameters), ...options } },
			items.map(({ json }) => json),
			{ onError, ...run },
		);
		return result.items;
	}

	private node(name: string): TemplateNode {
		const found = this.nodes.find((node) => node.name === name);
		if (!found) throw new Error(`There is no node "${name}"`);
		return found;
	}
}
