const { default: Sequencer } = require('@jest/test-sequencer');

/** Those that take longest, the longest last. What runs beside others is over sooner if they begin first. */
const LONG = [
	'examples',
	'triggerCompletions',
	'editor',
	'largeList',
	'disturbances',
	'triggerFailures',
	'triggerStarts',
	'queue',
];

/** Decides in which order jest runs the suites. */
module.exports = class extends Sequencer {
	sort(tests) {
		const place = ({ path }) => LONG.findIndex((name) => path.endsWith(`/${name}.e2e.ts`));
		return tests.toSorted((a, b) => place(b) - place(a));
	}
};
