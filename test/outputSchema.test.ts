import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { loadOutputSchema } from 'n8n-core';
import { join } from 'node:path';
import { resources } from '../nodes/LeadGen/action/operations';
import { useService } from './service';

/** The part of JSON Schema that n8n's editor shows as the fields of a node that has not run yet. */
interface Schema {
	type: string;
	properties?: Record<string, Schema>;
	items?: Schema;
}

/** Beside the built node, where n8n looks for them. */
const nodeDir = join(__dirname, '../dist/nodes/LeadGen');

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

describe('The fields that the editor shows before the first run are those of the result', () => {
	const service = useService();
	const parameters: INodeParameters = {
		firstName: '={{ $json.first }}',
		lastName: '={{ $json.last }}',
		company: 'acme.com',
		tryPersonal: true,
		email: 'valid@acme.com',
	};
	const items = [
		{ first: 'Ann', last: 'Sure' },
		{ first: 'Invalid', last: 'Low' },
		{ first: 'Tom', last: 'Nobody' },
	];

	const operations = resources.flatMap(({ value: resource, operations }) =>
		operations.map(({ value }) => [resource, value] as const),
	);
	test.each(operations)('%s: %s', async (resource, operation) => {
		service.sandbox.set({ job: { durationMs: 0 } });
		const scrapeId = await service.startJob();
		const result = await service.run([resource, operation], { ...parameters, scrapeId }, items);

		expect(result.items).toHaveLength(items.length);
		const schema = loadOutputSchema({ nodeDir, version: 1, resource, operation });
		expect(schema).toEqual({ ...schemaOf(result.items.map(({ json }) => json)), version: 1 });
	});
});
