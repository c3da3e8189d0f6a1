import eslint from '@eslint/js';
import communityNodes from '@n8n/eslint-plugin-community-nodes';
import n8nNodesBase from 'eslint-plugin-n8n-nodes-base';
import prettier from 'eslint-config-prettier';
import tseslint from 'typescript-eslint';

const base = { plugins: { 'n8n-nodes-base': n8nNodesBase } };
const { recommended } = communityNodes.configs;

export default tseslint.config(
	{ ignores: ['dist/', '**/node_modules/', 'coverage/', '.playground/'] },
	{ linterOptions: { noInlineConfig: true, reportUnusedDisableDirectives: 'error' } },

	// All our TypeScript.
	{
		files: ['**/*.ts'],
		extends: [eslint.configs.recommended, tseslint.configs.strictTypeChecked],
		languageOptions: { parserOptions: { projectService: true } },
	},

	// n8n's rules, official and classic. The classic rules that are off contradict the official ones;
	// they are the ones that n8n's own node CLI switches off.
	{
		...recommended,
		files: ['nodes/**/*.ts', 'credentials/**/*.ts'],
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
		...recommended,
		files: ['package.json'],
		plugins: { ...recommended.plugins, ...base.plugins },
		rules: { ...recommended.rules, ...n8nNodesBase.configs.community.rules },
		languageOptions: { parser: tseslint.parser, parserOptions: { extraFileExtensions: ['.json'] } },
	},

	prettier,
);
