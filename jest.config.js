/** @type {import('jest').Config} */
module.exports = {
	testEnvironment: 'node',
	roots: ['<rootDir>/test'],
	testMatch: ['**/*.test.ts'],
	setupFiles: ['<rootDir>/test/setup.ts'],
	transform: { '^.+\\.ts$': 'ts-jest' },
	// Two cores: the engine is heavy to load, and each worker loads its own.
	maxWorkers: 2,
	testTimeout: 60_000,
};
