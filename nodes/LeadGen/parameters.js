'use strict';
Object.defineProperty(exports, '__esModule', { value: true });
exports.Parameters = void 0;
exports.textField = textField;
exports.booleanField = booleanField;
exports.numberField = numberField;
exports.toText = toText;
exports.show = show;
const errors_1 = require('./service/errors');
/** The parameters of one item (action node) or of the node (trigger). */
class Parameters {
	raw;
	/** @param raw gives the value of a top-level parameter, with its expressions resolved */
	constructor(raw) {
		this.raw = raw;
	}
	get(field) {
		return field.read(this.raw(field.property.name));
	}
	/** A field inside the "Options" collection; its default where the person did not add it. */
	option(field) {
		const options = this.raw('options');
		return field.read(options?.[field.property.name] ?? field.property.default);
	}
}
exports.Parameters = Parameters;
/**
 * A line of text: trimmed, empty for anything blank.
 * @param clean brings the text to the form that the service takes; not called for an empty text
 */
function textField(property, clean = (text) => text) {
	const { displayName } = property;
	return {
		property: { ...property, type: 'string', default: '' },
		read(value) {
			const text = toText(value, displayName).trim();
			return text === '' ? '' : clean(text, displayName);
		},
	};
}
function booleanField(property) {
	return {
		property: { ...property, type: 'boolean' },
		read: (value) => value === true || value === 'true',
	};
}
/** A number that is at least `minimum`; a text that holds one, as spreadsheets have it, will do. */
function numberField(property, { minimum, whole = false }) {
	const kind = whole ? 'a whole number' : 'a number';
	return {
		property: { ...property, type: 'number' },
		read(value) {
			const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
			if (
				typeof number !== 'number' ||
				!Number.isFinite(number) ||
				number < minimum ||
				(whole && !Number.isInteger(number))
			) {
				throw new errors_1.InputError(
					property.displayName,
					`must be ${kind} of at least ${minimum}, and is ${show(value)}`,
					`Give ${property.displayName} ${kind} such as ${String(property.default)}.`,
				);
			}
			return number;
		},
	};
}
/** Text of a value that an expression brought; lists and objects are a mistake of the expression. */
function toText(value, displayName) {
	if (typeof value === 'string') return value;
	if (value === null || value === undefined) return '';
	if (typeof value === 'number' || typeof value === 'boolean') return String(value);
	throw new errors_1.InputError(
		displayName,
		`must be text, and is ${show(value)}`,
		'Change the expression so that it gives a single text.',
	);
}
/** A value in an error message, short enough to read. */
function show(value) {
	const text = JSON.stringify(value) ?? 'empty';
	return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}
