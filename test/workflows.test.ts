/** What GitHub runs, and with which rights. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { VERSIONS, findN8n } from '../lab/playground/versions';

interface Step {
	uses?: string;
	run?: string;
	with?: Record<string, unknown>;
}

interface Job {
	permissions?: Record<string, string>;
	steps: Step[];
	strategy?: { matrix: { n8n: string[] } };
}

interface Workflow {
	permissions?: Record<string, string>;
	jobs: Record<string, Job>;
}

const FOLDER = join(__dirname, '../.github/workflows');
const textOf = (name: string) => readFileSync(join(FOLDER, name), 'utf8');
const workflowOf = (name: string) => parse(textOf(name)) as Workflow;

test.each(readdirSync(FOLDER))('%s has no more rights than it needs', (name) => {
	const { permissions, jobs } = workflowOf(name);
	expect(permissions).toEqual({ contents: 'read' });
	const steps = Object.values(jobs).flatMap((job) => job.steps);
	const checkouts = steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'));
	for (const checkout of checkouts) expect(checkout.with?.['persist-credentials']).toBe(false);
	// No text of an event gets into a command.
	expect(steps.filter(({ run }) => run?.includes('${{'))).toEqual([]);
});

test.each(readdirSync(FOLDER))('%s pins each action to a commit, and names its version', (name) => {
	const actions = textOf(name).match(/uses: .*/g) ?? [];
	expect(actions.length).toBeGreaterThan(0);
	for (const action of actions) {
		expect(action).toMatch(/^uses: [\w./-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/);
	}
});

test('publish.yml gives the right to publish to one job, which runs nothing of the repository', () => {
	const jobs = Object.values(workflowOf('publish.yml').jobs);
	const trusted = jobs.filter(({ permissions = {} }) => 'id-token' in permissions);
	expect(trusted).toMatchObject([
		{
			needs: 'build',
			environment: 'npm',
			permissions: { 'id-token': 'write' },
			steps: [
				{ uses: expect.stringMatching(/^actions\/download-artifact@/) as string },
				{ uses: expect.stringMatching(/^actions\/setup-node@/) as string },
				{ run: 'npm publish ./*.tgz --provenance --access public --ignore-scripts' },
			],
		},
	]);
});

test('nightly.yml checks every version of n8n that is here', () => {
	const names = workflowOf('nightly.yml').jobs.n8n?.strategy?.matrix.n8n ?? [];
	expect(names.map((name) => findN8n(name).version)).toEqual(VERSIONS);
	expect(() => findN8n('1.99.0')).toThrow(
		'There is no n8n "1.99.0" here; there are 1, 2, 1.123.81',
	);
});
