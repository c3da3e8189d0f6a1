import eslint from '@eslint/js';
import communityNodes from '@n8n/eslint-plugin-community-nodes';
import n8nNodesBase from 'eslint-plugin-n8n-nodes-base';
import prettier from 'eslint-config-prettier';
import tseslint from 'typescript-eslint';

const base = { plugins: { 'n8n-nodes-base': n8nNodesBase } };
const { recommended } = communityNodes.configs;

export default tseslint.config(
	{ ignores: ['**/node_modules/', 'coverage/', '.playground/'] },
	{ linterOptions: { noInlineConfig: true, reportUnusedDisableDirectives: 'error' } },

	// All our TypeScript.
	{
		files: ['**/*.ts'],
		extends: [eslint.configs.recommended, tseslint.configs.strictTypeChecked],
		languageOptions: { parserOptions: { projectService: true } },
	},

	// n8n's rules, official and classic, for all that n8n's own scanner of community packages reads: the
	// sources with their JSON files, package.json, and what is published of the build. The classic rules that
	// are off contradict the official ones; they are the ones that the scanner switches off.
	{
		...recommended,
		files: ['{nodes,credentials}/**/*.{ts,json}', 'dist/**/*.{js,json}', 'package.json'],
		rules: { ...recommended.rules, 'no-console': 'error' },
	},
	{
		files: ['**/*.json'],
		languageOptions: { parser: tseslint.parser, parserOptions: { extraFileExtensions: ['.json'] } },
	},
	{
		...base,
		files: ['credentials/**/*.ts'],
		rules: {
			...n8nNodesBase.configs.credentials.rules,
			'n8n-nodes-base/cred-class-field-documentation-url-miscased': 'off',
			'n8n-nodes-base/cred-class-field-type-options-password-missing': 'off',
		},
	},
	{
		...base,
		files: ['nodes/**/*.ts'],
		rules: {
			...n8nNodesBase.configs.nodes.rules,
			'n8n-nodes-base/node-class-description-inputs-wrong-regular-node': 'off',
			'n8n-nodes-base/node-class-description-outputs-wrong': 'off',
			'n8n-nodes-base/node-param-type-options-max-value-present': 'off',
		},
	},
	{
		...base,
		files: ['package.json'],
		rules: n8nNodesBase.configs.community.rules,
	},

	prettier,

	// Prettier breaks code, but no comments. A tab counts as one.
	{
		files: ['**/*.ts'],
		rules: {
			'max-len': [
				'error',
				{
					code: 120,
					tabWidth: 1,
					ignoreStrings: true,
					ignoreTemplateLiterals: true,
					ignoreRegExpLiterals: true,
				},
			],
		},
	},
);
