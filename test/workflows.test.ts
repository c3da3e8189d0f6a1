/** What GitHub runs, and with which rights. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { VERSIONS, findN8n } from '../lab/playground/versions';

const GITHUB = join(__dirname, '../.github');

interface Step {
	uses?: string;
	run?: string;
	with?: Record<string, unknown>;
}

interface Job {
	needs?: string;
	environment?: string;
	permissions?: Record<string, string>;
	steps: Step[];
}

interface Workflow {
	permissions?: Record<string, string>;
	jobs: Record<string, Job>;
}

const texts = readdirSync(join(GITHUB, 'workflows')).map(
	(name) => [name, readFileSync(join(GITHUB, 'workflows', name), 'utf8')] as const,
);

describe.each(texts)('%s', (_, text) => {
	const { permissions, jobs } = parse(text) as Workflow;
	const steps = Object.values(jobs).flatMap((job) => job.steps);

	test('pins each action to a commit, and says to which version that belongs', () => {
		const lines = text.split('\n').filter((line) => /^\s*-? *uses:/.test(line));
		expect(lines.length).toBeGreaterThan(0);
		const pinned = /uses: [\w./-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/;
		expect(lines.filter((line) => !pinned.test(line))).toEqual([]);
	});

	test('only reads, unless a job needs more', () => {
		expect(permissions).toEqual({ contents: 'read' });
	});

	test('leaves no token behind in the checkout', () => {
		const checkouts = steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'));
		expect(checkouts.map((step) => step.with?.['persist-credentials'])).toEqual(
			checkouts.map(() => false),
		);
	});

	test('puts no text of an event into a command', () => {
		expect(steps.filter(({ run }) => run?.includes('${{'))).toEqual([]);
	});
});

describe('publish.yml', () => {
	const text = readFileSync(join(GITHUB, 'workflows/publish.yml'), 'utf8');
	const { jobs } = parse(text) as Workflow;
	const commandsOf = (steps: Step[] = []) => steps.flatMap(({ run }) => (run ? [run.trim()] : []));
	const trusted = Object.values(jobs).filter(({ permissions = {} }) => 'id-token' in permissions);

	test('gives the right to publish to one job, which runs nothing of the repository', () => {
		expect(trusted).toHaveLength(1);
		const [{ needs, environment, permissions, steps } = { steps: [] as Step[] }] = trusted;
		expect({ environment, permissions }).toEqual({
			environment: 'npm',
			permissions: { 'id-token': 'write' },
		});
		expect(Object.keys(jobs)).toContain(needs);
		const actions = steps.flatMap(({ uses }) => (uses ? [uses.replace(/@.*/, '')] : []));
		expect(actions).toEqual(['actions/download-artifact', 'actions/setup-node']);
		expect(commandsOf(steps)).toEqual([
			'npm publish ./*.tgz --provenance --access public --ignore-scripts',
		]);
	});

	test('publishes what the other job has tested', () => {
		const last = commandsOf(jobs.build?.steps).slice(-3);
		expect(last).toEqual(['npm ci', 'npm run prepublishOnly', 'npm pack --ignore-scripts']);
	});

	test('takes a tag that is the version, of a commit on main', () => {
		const check = jobs.build?.steps.find(({ run }) => run?.includes('GITHUB_REF_NAME'))?.run ?? '';
		const cwd = mkdtempSync(join(tmpdir(), 'leadgen-publish-'));
		const git = (...args: string[]) =>
			execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.example', ...args], {
				cwd,
				encoding: 'utf8',
				stdio: ['ignore', 'pipe', 'ignore'],
			}).trim();
		const commit = (version: string) => {
			writeFileSync(join(cwd, 'package.json'), JSON.stringify({ version }));
			git('add', '.');
			git('commit', '-m', version);
		};
		const isTaken = (tag: string) => {
			const sha = git('rev-parse', 'HEAD');
			const env = { ...process.env, GITHUB_REF_NAME: tag, GITHUB_SHA: sha };
			return spawnSync('bash', ['-e', '-c', check], { cwd, env }).status === 0;
		};
		try {
			git('init', '-b', 'main');
			commit('1.2.3');
			git('update-ref', 'refs/remotes/origin/main', 'HEAD');
			const taken = { theVersion: isTaken('v1.2.3'), another: isTaken('v1.2.4') };
			commit('1.2.4');
			git('update-ref', 'refs/remotes/origin/main', 'HEAD');
			git('checkout', '--detach', 'HEAD~');
			const ofAnEarlierCommit = isTaken('v1.2.3');
			git('checkout', '-b', 'other');
			commit('1.2.5');
			expect({ ...taken, ofAnEarlierCommit, ofAnotherBranch: isTaken('v1.2.5') }).toEqual({
				...{ theVersion: true, another: false },
				...{ ofAnEarlierCommit: true, ofAnotherBranch: false },
			});
		} finally {
			rmSync(cwd, { recursive: true });
		}
	});
});

test('nightly.yml checks every version of n8n that is here', () => {
	const text = readFileSync(join(GITHUB, 'workflows/nightly.yml'), 'utf8');
	const { jobs } = parse(text) as { jobs: { n8n: { strategy: { matrix: { n8n: string[] } } } } };
	const versions = jobs.n8n.strategy.matrix.n8n.map((name) => findN8n(name).version);
	expect(versions).toEqual(VERSIONS);
	expect(() => findN8n('1.99.0')).toThrow('There is no n8n "1.99.0" here; there are 1, 2, 1.100.1');
});
