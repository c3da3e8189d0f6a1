import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import packageJson from '../package.json';

const ROOT = join(__dirname, '..');
const timeOf = (path: string) =>
	statSync(join(ROOT, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** Before all tests, because they run the build. @throws if a source is newer than that */
export default function expectFreshBuild(): void {
	const sources = ['nodes', 'credentials'].flatMap((folder) =>
		readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((path) =>
			join(folder, path),
		),
	);
	const changedAt = Math.max(...sources.map(timeOf));
	const builtAt = Math.min(...packageJson.n8n.nodes.map(timeOf));
	if (changedAt > builtAt)
		throw new Error('The build is old. Run `npm run build` before `npx jest`.');
}
