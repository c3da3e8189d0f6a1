const { mkdirSync, rmSync, writeFileSync } = require('node:fs');
const { dirname } = require('node:path');
const { dest, src } = require('gulp');

/** Empties dist, so that a deleted source leaves nothing behind in the package. */
function clean(done) {
	rmSync('dist', { recursive: true, force: true });
	done();
}

/** Copies what tsc does not: the icons and the codex files (`*.node.json`) that n8n reads beside the code. */
function icons() {
	return src(['nodes/**/*.{svg,json}', 'credentials/**/*.svg'], { base: '.' }).pipe(dest('dist'));
}

/** Writes the fields of each operation's result, from its `output`, where n8n looks for them. */
function schemas(done) {
	const { resources } = require('./dist/nodes/LeadGen/action/operations');
	for (const resource of resources) {
		for (const { value, output } of resource.operations) {
			const file = `dist/nodes/LeadGen/__schema__/v1.0.0/${resource.value}/${value}.json`;
			mkdirSync(dirname(file), { recursive: true });
			writeFileSync(file, JSON.stringify({ ...schemaOf(output), version: 1 }));
		}
	}
	done();
}

/** A JSON schema of an example. */
function schemaOf(value) {
	if (Array.isArray(value)) return { type: 'array', items: schemaOf(value[0]) };
	if (typeof value !== 'object') return { type: typeof value };
	const entries = Object.entries(value).map(([name, inner]) => [name, schemaOf(inner)]);
	return { type: 'object', properties: Object.fromEntries(entries) };
}

module.exports = { clean, icons, schemas };
