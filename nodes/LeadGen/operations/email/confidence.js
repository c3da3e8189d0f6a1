'use strict';
Object.defineProperty(exports, '__esModule', { value: true });
exports.confidenceLevel = confidenceLevel;
/** Lower bounds of the bands of interface 4.5, from the top down. */
const BANDS = [
	[0.9, 'very_high'],
	[0.7, 'high'],
	[0.5, 'medium'],
	[0, 'low'],
];
/** The band of a confidence from 0 to 1 as `confidenceLevel`; nothing for any other value. */
function confidenceLevel(confidence) {
	if (typeof confidence !== 'number' || confidence > 1) return {};
	const band = BANDS.find(([from]) => confidence >= from);
	return band ? { confidenceLevel: band[1] } : {};
}
