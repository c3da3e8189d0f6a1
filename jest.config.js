/** @type {import('jest').Config} */
module.exports = {
	testEnvironment: 'node',
	roots: ['<rootDir>/test'],
	testMatch: ['**/*.test.ts'],
	globalSetup: '<rootDir>/test/freshBuild.ts',
	setupFiles: ['<rootDir>/test/setup.ts'],
	transform: { '^.+\\.ts$': 'ts-jest' },
	// On two cores: the tests wait for longer than they work, but each worker loads the engine.
	maxWorkers: 3,
	testTimeout: 60_000,
};
