import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ROOT, VERSIONS, findN8n } from '../lab/playground/versions';

it('finds an n8n by its line, and by its exact version', () => {
	for (const line of ['1', '2'] as const) {
		expect(findN8n(line)).toMatchObject({
			line,
			version: expect.stringContaining(`${line}.`) as string,
		});
		expect(findN8n(findN8n(line).version)).toEqual(findN8n(line));
	}
	expect(VERSIONS.map((version) => findN8n(version).version)).toEqual(VERSIONS);
	expect(VERSIONS.map((version) => findN8n(version).line)).toEqual(
		VERSIONS.map((version) => version.split('.')[0]),
	);
	expect(() => findN8n('1.99.0')).toThrow('There is no n8n "1.99.0" here; there are 1, 2, 1.100.1');
});

it('is every version that is checked at night', () => {
	const text = readFileSync(join(ROOT, '.github/workflows/nightly.yml'), 'utf8');
	const { jobs } = parse(text) as { jobs: { n8n: { strategy: { matrix: { n8n: string[] } } } } };
	const versions = jobs.n8n.strategy.matrix.n8n.map((name) => findN8n(name).version);
	expect(versions).toEqual(VERSIONS);
});
