import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { isFields } from './settings';

export type Schema = Record<string, unknown>;

export interface Operation {
	/** As openapi.yaml names it, such as `verifyEmail`. */
	id: string;
	method: 'GET' | 'POST';
	path: string;
	/** Absent if the operation takes no body. */
	body?: Schema;
	/** Names every query parameter there may be. */
	query: Schema;
}

/** What of OpenAPI the contract uses, references resolved. */
interface Path {
	operationId: string;
	parameters?: Array<{ name: string; required: boolean; schema: Schema }>;
	requestBody?: { content: { 'application/json': { schema: Schema } } };
}

/** The operations of openapi.yaml, the one place where the requests are described. */
export function loadContract(): Operation[] {
	const document: unknown = parse(readFileSync(join(__dirname, 'openapi.yaml'), 'utf8'));
	const { paths } = resolve(document, document) as { paths: Record<string, Record<string, Path>> };
	return Object.entries(paths).flatMap(([path, methods]) =>
		Object.entries(methods).map(([method, operation]) => ({
			id: operation.operationId,
			method: method === 'get' ? 'GET' : 'POST',
			path,
			body: operation.requestBody?.content['application/json'].schema,
			query: querySchema(operation.parameters ?? []),
		})),
	);
}

function querySchema(parameters: NonNullable<Path['parameters']>): Schema {
	return {
		type: 'object',
		additionalProperties: false,
		required: parameters.filter(({ required }) => required).map(({ name }) => name),
		properties: Object.fromEntries(parameters.map(({ name, schema }) => [name, schema])),
	};
}

/** Replaces each `$ref` by what it points to, and drops the notes that no validator knows. */
function resolve(value: unknown, root: unknown): unknown {
	if (Array.isArray(value)) return value.map((item) => resolve(item, root));
	if (!isFields(value)) return value;
	if (typeof value.$ref === 'string') {
		const target = value.$ref
			.slice(2)
			.split('/')
			.reduce<unknown>((at, name) => (isFields(at) ? at[name] : undefined), root);
		return resolve(target, root);
	}
	return Object.fromEntries(
		Object.entries(value)
			.filter(([name]) => !name.startsWith('x-'))
			.map(([name, inner]) => [name, resolve(inner, root)]),
	);
}
