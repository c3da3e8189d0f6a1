const { rmSync } = require('node:fs');
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

module.exports = { clean, icons };
