const NODES = '^nodes/LeadGen';

/** In which direction modules import each other (docs/architecture.md). */
/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
	forbidden: [
		{
			name: 'no-circle',
			severity: 'error',
			from: {},
			to: { circular: true },
		},
		{
			name: 'common-imports-nothing-above',
			severity: 'error',
			from: { path: `${NODES}/common/` },
			to: { path: '^(nodes|credentials)/', pathNot: `${NODES}/common/` },
		},
		{
			name: 'service-imports-common-only',
			severity: 'error',
			from: { path: `${NODES}/service/` },
			to: { path: '^(nodes|credentials)/', pathNot: `${NODES}/(service|common)/` },
		},
		{
			name: 'action-and-trigger-do-not-import-each-other',
			severity: 'error',
			from: { path: `${NODES}/(action|trigger)/` },
			to: { path: '^(nodes|credentials)/', pathNot: `${NODES}/($1|service|common)/` },
		},
		{
			name: 'the-package-imports-no-equipment',
			severity: 'error',
			from: { path: '^(nodes|credentials)/' },
			to: { path: '^(lab|test)/' },
		},
		{
			name: 'equipment-imports-no-tests',
			severity: 'error',
			from: { path: '^lab/' },
			to: { path: '^test/' },
		},
	],
	options: {
		doNotFollow: { path: 'node_modules' },
		exclude: { path: 'node_modules' },
		// Imports of types count as well.
		tsPreCompilationDeps: true,
		tsConfig: { fileName: 'tsconfig.json' },
	},
};
