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
	// A busy machine is slow, and no test is to fail for that.
	testTimeout: 180_000,
};
