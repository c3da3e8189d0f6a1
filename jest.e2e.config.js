/** Tests on a real n8n: `N8N_VERSION=1 npm run test:e2e`, by default on n8n 2. */
/** @type {import('jest').Config} */
module.exports = {
	testEnvironment: 'node',
	roots: ['<rootDir>/test/e2e'],
	testMatch: ['**/*.e2e.ts'],
	moduleFileExtensions: ['ts', 'js', 'json'],
	transform: { '^.+\\.ts$': 'ts-jest' },
	globalSetup: '<rootDir>/test/e2e/prepare.ts',
	testSequencer: '<rootDir>/test/e2e/longestFirst.js',
	// An n8n for each suite, on two cores. With three workers they wait for the processor.
	maxWorkers: 2,
	// A busy machine is slow, and no test is to fail for that.
	testTimeout: 600_000,
};
