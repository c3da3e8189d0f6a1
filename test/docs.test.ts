import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const ROOT = join(__dirname, '..');

/** The files in a folder and below it, by the ending of their names. */
function filesIn(folder: string, ending: string): string[] {
	const names = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
	return names.filter((name) => name.endsWith(ending)).map((name) => `${folder}/${name}`);
}

const PAGES = [
	...['README.md', 'CONTRIBUTING.md', 'AGENTS.md', 'SECURITY.md', 'CHANGELOG.md'],
	'lab/sandbox/README.md',
	...filesIn('docs', '.md'),
];

/** Of the package, for which GitHub and npm make web addresses of relative links. */
const REPOSITORY = 'https://github.com/n8n-nodes-leadgen/n8n-nodes-leadgen';

function textOf(page: string): string {
	return readFileSync(join(ROOT, page), 'utf8');
}

/** The text of a page without its blocks of code. */
function proseOf(page: string): string {
	return textOf(page).replace(/^```[\s\S]*?^```/gm, '');
}

/** The anchors that GitHub gives to the headings of a page. */
function anchorsOf(page: string): string[] {
	const headings = proseOf(page).matchAll(/^#+ (.+)$/gm);
	return [...headings].map(([, heading = '']) =>
		heading
			.toLowerCase()
			.replace(/[^\p{L}\p{N} _-]/gu, '')
			.replaceAll(' ', '-'),
	);
}

/** The targets of all links and images, those to other sites left out. */
function linksOf(page: string): string[] {
	const links = proseOf(page)
		.replace(/`[^`\n]*`/g, 'code')
		.matchAll(/\]\(([^)\s]+)\)/g);
	return [...links].map(([, target = '']) => target).filter((target) => !/^https?:/.test(target));
}

/** What is wrong with a link. */
function problemOf(page: string, target: string): string | undefined {
	const [path = '', anchor] = target.split('#');
	const file = path === '' ? page : normalize(join(dirname(page), path));
	if (!existsSync(join(ROOT, file))) return `${page} links to ${target}, which is not there`;
	if (anchor === undefined || anchorsOf(file).includes(anchor)) return undefined;
	return `${page} links to ${target}, and ${file} has no such heading`;
}

test.each(PAGES)('every link leads to a file and to a heading that is there: %s', (page) => {
	const links = linksOf(page);
	expect(links.map((target) => problemOf(page, target)).filter(Boolean)).toEqual([]);
});

test.each(PAGES)('lines of prose are short, and cells of tables are not padded: %s', (page) => {
	const lines = proseOf(page).split('\n');
	const [rows, prose] = [true, false].map((isRow) =>
		lines.filter((line) => line.startsWith('|') === isRow),
	);
	expect(rows?.filter((row) => /[^| ] {2,}\||-{4}/.test(row))).toEqual([]);
	// Programs write the pages with measurements.
	const isWritten = page.startsWith('docs/measurements/');
	expect(prose?.filter((line) => line.length > 120 && !isWritten)).toEqual([]);
});

test('SECURITY.md names tests that are there', () => {
	const links = [...textOf('SECURITY.md').matchAll(/\[([^\]]+)\]\((test\/[^)]+)\)/g)];
	expect(links.length).toBeGreaterThan(0);
	const missing = links.filter(([, name = '', file = '']) => !textOf(file).includes(name));
	expect(missing.map(([link]) => link)).toEqual([]);
});

test('the node and the credential link to headings of the README that are there', () => {
	const files = [
		'nodes/LeadGen/LeadGen.node.json',
		'nodes/LeadGen/LeadGenTrigger.node.json',
		'credentials/LeadGenApi.credentials.ts',
	];
	const links = files.flatMap((file) =>
		[...textOf(file).matchAll(/https:\/\/github\.com\/[^\s'"]+/g)].map(([link]) => link),
	);
	expect(links.length).toBeGreaterThan(0);
	const anchors = ['readme', ...anchorsOf('README.md')];
	const allowed = anchors.map((anchor) => `${REPOSITORY}#${anchor}`);
	expect(links.filter((link) => !allowed.includes(link))).toEqual([]);
});

test('comments cite parts of docs/service.md that are there', () => {
	const files = ['nodes', 'credentials', 'lab/sandbox'].flatMap((each) => filesIn(each, '.ts'));
	const cited = files.flatMap((file) => {
		// A comment may break the line anywhere.
		const text = textOf(file).replace(/\s*\n\s*(\*|\/\/)?\s*/g, ' ');
		const headings = text.matchAll(/docs\/service\.md(?:, | \()([A-Z][A-Za-z ]+)\)/g);
		return [...headings].map(([, heading = '']) => heading.toLowerCase().replaceAll(' ', '-'));
	});
	const anchors = anchorsOf('docs/service.md');
	expect(cited.filter((heading) => !anchors.includes(heading))).toEqual([]);
});

describe('The README', () => {
	const text = textOf('README.md');

	test('has 200 lines at most', () => {
		expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(200);
	});

	test('leads a newcomer to the first verified row in 400 words at most', () => {
		const [before, after] = text.split('\n## 500 rows\n');
		expect(after).toBeDefined();
		expect(before).toContain('\n## First verified row\n');
		const words = before?.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)) ?? [];
		expect(words.length).toBeLessThanOrEqual(400);
	});

	test('names every template', () => {
		const templates = filesIn('examples', '');
		expect(templates.filter((template) => !text.includes(`](${template})`))).toEqual([]);
	});
});
