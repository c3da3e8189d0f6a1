import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const ROOT = join(__dirname, '..');
const PAGES = globSync(['*.md', 'docs/**/*.md', 'lab/{,sandbox/}*.md'], { cwd: ROOT }).filter(
	// The words of the licence are not ours.
	(page) => page !== 'LICENSE.md',
);

function textOf(file: string): string {
	return readFileSync(join(ROOT, file), 'utf8');
}

/** The text of a page without its code. */
function proseOf(page: string): string {
	return textOf(page).replace(/^```[\s\S]*?^```/gm, '');
}

/** The anchor that GitHub gives to a heading. */
function anchorOf(heading: string): string {
	return heading
		.toLowerCase()
		.replace(/[^\p{L}\p{N} _-]/gu, '')
		.replaceAll(' ', '-');
}

function anchorsOf(page: string): string[] {
	return [...proseOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading));
}

/** Whether the file is there, and the heading in it. */
function isThere(page: string, target: string): boolean {
	const [path = '', anchor] = target.split('#');
	const file = path === '' ? page : normalize(join(dirname(page), path));
	if (!existsSync(join(ROOT, file))) return false;
	return anchor === undefined || anchorsOf(file).includes(anchor);
}

test.each(PAGES)('every link leads to a file and a heading that are there: %s', (page) => {
	const links = proseOf(page).replace(/`[^`\n]*`/g, 'code');
	const targets = [...links.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
	const here = targets.filter((target) => !/^https?:/.test(target));
	expect(here.filter((target) => !isThere(page, target))).toEqual([]);
});

test.each(PAGES)('no line has more than 120 characters, tables aside: %s', (page) => {
	const lines = textOf(page).split('\n');
	expect(lines.filter((line) => line.length > 120 && !line.startsWith('|'))).toEqual([]);
});

test('SECURITY.md names tests that are there', () => {
	const links = [...textOf('SECURITY.md').matchAll(/\[([^\]]+)\]\((test\/[^)]+)\)/g)];
	expect(links.length).toBeGreaterThan(0);
	for (const [, name = '', file = ''] of links) expect(textOf(file)).toContain(name);
});

test('the nodes and the credential link to headings of the README that are there', () => {
	const files = globSync(['nodes/LeadGen/*.node.json', 'credentials/*.ts'], { cwd: ROOT });
	const links = files.flatMap(
		(file) => textOf(file).match(/https:\/\/github\.com\/[^\s'"]+/g) ?? [],
	);
	expect(links.length).toBeGreaterThan(0);
	const readme = 'https://github.com/n8n-nodes-leadgen/n8n-nodes-leadgen#';
	const allowed = ['readme', ...anchorsOf('README.md')].map((anchor) => `${readme}${anchor}`);
	expect(links.filter((link) => !allowed.includes(link))).toEqual([]);
});

test('comments cite headings of docs/service.md that are there', () => {
	const files = globSync('{nodes,credentials,lab/sandbox}/**/*.ts', { cwd: ROOT });
	const cited = files.flatMap((file) => {
		// A comment may break the line anywhere.
		const text = textOf(file).replace(/\s*\n\s*(\*|\/\/)?\s*/g, ' ');
		const headings = text.matchAll(/docs\/service\.md(?:, | \()([A-Z][A-Za-z ]+)\)/g);
		return [...headings].map(([, heading = '']) => anchorOf(heading));
	});
	const anchors = anchorsOf('docs/service.md');
	expect(cited.filter((heading) => !anchors.includes(heading))).toEqual([]);
});

test.each(['CONTRIBUTING.md', 'docs/architecture.md'])('%s names code that is there', (page) => {
	const files = globSync(['{nodes,credentials,test}/**/*.ts', 'lab/{,*/}*.ts'], { cwd: ROOT });
	const code = files.map(textOf).join('\n');
	const named = [...proseOf(page).matchAll(/`([^`\s]+)`/g)].map(([, name = '']) => name);
	const isThere = (name: string) => files.some((file) => `/${file}`.endsWith(`/${name}`));
	const paths = named.filter((name) => /^[\w/.-]+\.ts$/.test(name));
	const names = named.filter((name) =>
		/^([a-z]+[A-Z]\w*|[A-Z]+_[A-Z_]+|[A-Z][a-z]\w+)$/.test(name),
	);
	expect(names).not.toEqual([]);
	expect(paths.filter((path) => !isThere(path))).toEqual([]);
	expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(code))).toEqual([]);
});

test('the README is short, leads a newcomer to a row at once, and names every template', () => {
	const text = textOf('README.md');
	expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(200);
	const [before = '', ...after] = text.split('\n## 500 rows\n');
	expect(after).toHaveLength(1);
	expect(before).toContain('\n## First verified row\n');
	const words = before.match(/\S*[\p{L}\p{N}]\S*/gu) ?? [];
	expect(words.length).toBeLessThanOrEqual(400);
	const templates = globSync('examples/*', { cwd: ROOT });
	expect(templates.filter((template) => !text.includes(`](${template})`))).toEqual([]);
});
