/** What GitHub runs, and with which rights. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';

const GITHUB = join(__dirname, '../.github');

interface Step {
	name?: string;
	uses?: string;
	run?: string;
	with?: Record<string, unknown>;
	env?: Record<string, string>;
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
	const trusted = Object.values(jobs).filter(({ permissions = {} }) => 'id-token' in permissions);

	test('gives the right to publish to one job, which runs nothing of the repository', () => {
		expect(trusted).toHaveLength(1);
		const [{ needs, environment, permissions, steps } = { steps: [] as Step[] }] = trusted;
		expect(permissions).toEqual({ 'id-token': 'write' });
		expect(environment).toBe('npm');
		expect(Object.keys(jobs)).toContain(needs);
		const actions = steps.flatMap(({ uses }) => (uses ? [uses.replace(/@.*/, '')] : []));
		expect(actions).toEqual(['actions/download-artifact', 'actions/setup-node']);
		const commands = steps.flatMap(({ run }) => (run ? [run.trim()] : []));
		expect(commands).toEqual(['npm publish ./*.tgz --provenance --access public --ignore-scripts']);
	});

	test('publishes what the other job has tested', () => {
		const commands = (jobs.build?.steps ?? []).flatMap(({ run }) => (run ? [run.trim()] : []));
		expect(commands.slice(-3)).toEqual([
			'npm ci',
			'npm run prepublishOnly',
			'npm pack --ignore-scripts',
		]);
	});

	describe('takes a tag', () => {
		const check = jobs.build?.steps.find(({ run }) => run?.includes('GITHUB_REF_NAME'))?.run ?? '';
		let folder: string;
		let commit: string;
		const git = (...args: string[]) =>
			execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.example', ...args], {
				cwd: folder,
				encoding: 'utf8',
				stdio: ['ignore', 'pipe', 'ignore'],
			}).trim();
		const save = (version: string) => {
			writeFileSync(join(folder, 'package.json'), JSON.stringify({ version }));
			git('add', '.');
			git('commit', '-m', version);
			commit = git('rev-parse', 'HEAD');
		};
		const isTaken = (tag: string) => {
			const env = { ...process.env, GITHUB_REF_NAME: tag, GITHUB_SHA: commit };
			return spawnSync('bash', ['-e', '-c', check], { cwd: folder, env }).status === 0;
		};

		beforeEach(() => {
			folder = mkdtempSync(join(tmpdir(), 'leadgen-publish-'));
			git('init', '-b', 'main');
			save('1.2.3');
			git('update-ref', 'refs/remotes/origin/main', 'HEAD');
		});
		afterEach(() => {
			rmSync(folder, { recursive: true });
		});

		test('that is the version, on main', () => {
			expect(isTaken('v1.2.3')).toBe(true);
			expect(isTaken('v1.2.4')).toBe(false);
		});

		test('of a commit before the last one of main', () => {
			const tagged = commit;
			save('1.2.4');
			git('update-ref', 'refs/remotes/origin/main', 'HEAD');
			git('checkout', '--detach', tagged);
			commit = tagged;
			expect(isTaken('v1.2.3')).toBe(true);
		});

		test('but of no other branch', () => {
			git('checkout', '-b', 'other');
			save('1.2.5');
			expect(isTaken('v1.2.5')).toBe(false);
		});
	});
});

test('Dependabot renews the actions and the packages for development', () => {
	const { version, updates } = parse(readFileSync(join(GITHUB, 'dependabot.yml'), 'utf8')) as {
		version: number;
		updates: Array<Record<string, unknown>>;
	};
	expect(version).toBe(2);
	expect(updates.map((update) => [update['package-ecosystem'], update.directory])).toEqual([
		['github-actions', '/'],
		['npm', '/'],
	]);
});
