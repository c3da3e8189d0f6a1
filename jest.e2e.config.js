/** Tests on a real n8n: `N8N_VERSION=1 npx jest -c jest.e2e.config.js`, by default on n8n 2. */
/** @type {import('jest').Config} */
module.exports = {
	testEnvironment: 'node',
	roots: ['<rootDir>/test/e2e'],
	testMatch: ['**/*.e2e.ts'],
	moduleFileExtensions: ['ts', 'js', 'json'],
	transform: { '^.+\\.ts$': 'ts-jest' },
	// One n8n after the other: two of them are too much for two cores.
	maxWorkers: 1,
	testTimeout: 180_000,
};
