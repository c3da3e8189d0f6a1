import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import n8n1 from './n8n-1/package.json';
import n8n2 from './n8n-2/package.json';

export const ROOT = join(__dirname, '../..');
/** Everything that the playground writes, and git does not keep. */
export const STATE_FOLDER = join(ROOT, '.playground');

/** A line of n8n; the nodes of both are the same, the editor and its API are not. */
export type N8nLine = '1' | '2';

/** What it takes to install an n8n beside it, and what replaces parts of it that do not install. */
interface Recipe {
	dependencies: Record<string, string>;
	overrides: Record<string, string>;
}

const node = '22.22.0';
const xlsx = '0.18.5';
const msgpackr = { 'msgpackr-extract': '3.0.4' };
/** The newer ones need a newer core than n8n brings. */
const checkpoint = { '@langchain/langgraph-checkpoint': '1.0.0' };

/** Further versions, from the oldest supported on. Those of the lines have folders here, with lock files. */
const RECIPES: Record<string, Recipe | undefined> = {
	'1.100.1': { dependencies: { node }, overrides: { xlsx } },
	'2.0.3': { dependencies: { node }, overrides: { xlsx, ...msgpackr, ...checkpoint } },
	// Its parts share one zod only if it is the one at the top.
	'2.16.1': {
		dependencies: { node, zod: '3.25.67' },
		overrides: { xlsx, ...msgpackr, ...checkpoint, '@langchain/langgraph': '1.1.2' },
	},
};

/** An n8n that we can install. */
export interface N8nVersion {
	/** Exact, such as `2.41.1`. */
	readonly version: string;
	readonly line: N8nLine;
	/** Holds its package.json, and its node_modules once it is installed. */
	readonly folder: string;
}

/** The versions that the lines stand for. */
const LINES = { '1': n8n1.dependencies.n8n, '2': n8n2.dependencies.n8n };

/** Every version that we can install, the oldest first. */
export const VERSIONS = [...Object.keys(RECIPES), ...Object.values(LINES)].sort((a, b) =>
	a.localeCompare(b, undefined, { numeric: true }),
);

/**
 * Finds an n8n by its line, or by its exact version.
 * @throws for any other, naming those there are
 */
export function findN8n(name: string): N8nVersion {
	for (const line of ['1', '2'] as const) {
		const version = LINES[line];
		if (name === line || name === version) {
			return { version, line, folder: join(__dirname, `n8n-${line}`) };
		}
	}
	if (RECIPES[name] === undefined) {
		throw new Error(`There is no n8n "${name}" here; there are 1, 2, ${VERSIONS.join(', ')}`);
	}
	const line = name.startsWith('1.') ? '1' : '2';
	return { version: name, line, folder: join(STATE_FOLDER, `n8n-${name}`) };
}

/** Writes the package.json of a version that has no folder of its own in git. */
export function writeRecipe({ version, folder }: N8nVersion): void {
	const recipe = RECIPES[version];
	if (!recipe) return;
	mkdirSync(folder, { recursive: true });
	const content = {
		name: `playground-n8n-${version}`,
		private: true,
		dependencies: { n8n: version, ...recipe.dependencies },
		pnpm: {
			overrides: recipe.overrides,
			onlyBuiltDependencies: ['isolated-vm', 'node', 'sqlite3'],
		},
	};
	writeFileSync(join(folder, 'package.json'), JSON.stringify(content, undefined, '\t'));
}

/** Whether it has a module, which n8n loads by its name; the folder of one that takes a licence ends with `.ee`. */
export function hasModule({ folder }: N8nVersion, name: string): boolean {
	const module = join(folder, 'node_modules/n8n/dist/modules', name);
	return existsSync(module) || existsSync(`${module}.ee`);
}
