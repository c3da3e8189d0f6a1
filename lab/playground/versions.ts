import { join } from 'node:path';
import n8n1 from './n8n-1/package.json';
import n8n2 from './n8n-2/package.json';
import n8n203 from './n8n-2.0.3/package.json';
import n8n2161 from './n8n-2.16.1/package.json';

export const ROOT = join(__dirname, '../..');
/** Everything that the playground writes, and git does not keep. */
export const STATE_FOLDER = join(ROOT, '.playground');

/** A line of n8n; the nodes of both are the same, the editor and its API are not. */
export type N8nLine = '1' | '2';

/** An n8n that we can install. */
export interface N8nVersion {
	/** Exact, such as `2.41.1`. */
	readonly version: string;
	readonly line: N8nLine;
	/** Holds its package.json, and its node_modules once it is installed. */
	readonly folder: string;
	/** Whether git keeps a lock file for it, as for the newest version of each line. */
	readonly isLocked: boolean;
}

/** From the oldest supported on. Each package.json names what replaces parts of that n8n that do not install. */
const ALL = [n8n1, n8n203, n8n2161, n8n2].map(({ name, dependencies }): N8nVersion => {
	const folder = join(__dirname, name.replace('playground-', ''));
	const line = dependencies.n8n.startsWith('1.') ? '1' : '2';
	return { version: dependencies.n8n, line, folder, isLocked: folder.endsWith(`-${line}`) };
});

/** Every version that we can install, the oldest first. */
export const VERSIONS = ALL.map(({ version }) => version);

/**
 * Finds an n8n by its line, which stands for its newest version, or by its exact version.
 * @throws for any other, naming those there are
 */
export function findN8n(name: string): N8nVersion {
	const found = ALL.findLast(({ version, line }) => name === version || name === line);
	if (found) return found;
	throw new Error(`There is no n8n "${name}" here; there are 1, 2, ${VERSIONS.join(', ')}`);
}
