import type { INodeProperties, NodeParameterValueType } from 'n8n-workflow';
import { numberIn } from './json';
import { InputError } from './errors';
import { cleanText, entriesOf, mustBe, saysNone, show, toText } from './values';

/** A parameter of the node, and how its value is read and checked. */
export interface Field<T = unknown> {
	property: INodeProperties;
	/** @throws InputError if the value is invalid */
	read: (value: unknown) => T;
}

/** The parameters of one item (action node) or of the node (trigger). */
export class Parameters {
	/**
	 * @param raw returns the value of a parameter with resolved expressions, by its path, such as `options.location`
	 * @param place the place in the execution; stays the same when n8n runs the node again
	 * @param isTool whether an AI agent set the parameters
	 * @param warn receives what the user should know before the next run
	 */
	constructor(
		private readonly raw: (path: string, ifMissing?: NodeParameterValueType) => unknown,
		readonly place = '',
		readonly isTool = false,
		readonly warn: (message: string) => void = () => {},
	) {}

	get<T>(field: Field<T>): T {
		return field.read(this.raw(field.property.name));
	}

	/**
	 * A field inside the "Options" collection.
	 * @param ifMissing counts if the user did not add it, instead of its default
	 */
	option<T>({ property, read }: Field<T>, ifMissing?: T & number): T {
		const value = this.raw(`options.${property.name}`, ifMissing ?? property.default);
		return ifMissing !== undefined && value === ifMissing ? ifMissing : read(value);
	}
}

/** Display options for what an AI agent that uses the node as a tool has no use for. */
export const notForTools = { hide: { '@tool': [true] } };

/** What the editor shows of a field, without what its kind decides. */
type Property = Omit<INodeProperties, 'type' | 'default' | 'options'>;

/**
 * A line of text: cleaned, and empty for a blank value.
 * @param clean converts the text to the form that the service accepts; not called for an empty text
 * @param ifEmpty advice for the user, if the text must not be empty
 */
export function textField(
	property: Property,
	clean: (text: string, displayName: string) => string = (text) => text,
	ifEmpty?: string,
): Field<string> {
	const { displayName } = property;
	return {
		property: { ...property, type: 'string', default: '' },
		read(value) {
			const text = cleanText(value, displayName);
			if (text !== '') return clean(text, displayName);
			if (ifEmpty !== undefined) throw new InputError(displayName, 'is empty', ifEmpty);
			return '';
		},
	};
}

/** A text field that leaves out what only says that there is no value, such as `N/A`. */
export function unlessNone({ property, read }: Field<string>): Field<string> {
	return { property, read: (value) => (saysNone(value) ? '' : read(value)) };
}

/**
 * A switch that is off by default. Also accepts text and numbers that mean on or off, as spreadsheets contain them.
 * @param isEmptyOff whether an expression without a value means off
 */
export function booleanField(property: Property, isEmptyOff = true): Field<boolean> {
	return {
		property: { ...property, type: 'boolean', default: false },
		read(value) {
			const text = typeof value === 'boolean' ? String(value) : toText(value, property.displayName);
			const word = text.trim().toLowerCase();
			if (/^(true|yes|on|1)$/.test(word)) return true;
			if (/^(false|no|off|0)$/.test(word) || (isEmptyOff && word === '')) return false;
			const advice = 'Change the expression so that it returns true or false.';
			throw mustBe('on or off', value, property.displayName, advice);
		},
	};
}

/** A text for the user between the fields. */
export function noticeField(
	name: string,
	displayName: string,
	displayOptions?: INodeProperties['displayOptions'],
): Field {
	const property = { displayName, name, type: 'notice', default: '', displayOptions } as const;
	return { property, read: String };
}

type Choices<T extends string> = Array<{ name: string; value: T; description?: string }>;

/** The value of an option, in any case. @throws InputError if there is none */
function optionOf<T extends string>(given: unknown, options: Choices<T>, displayName: string): T {
	const known = options.find(({ value }) => value.toLowerCase() === String(given).toLowerCase());
	if (known) return known.value;
	const problem = given === '' ? 'is empty' : `has no option ${show(given)}`;
	const values = options.map(({ value }) => value).join(', ');
	throw new InputError(displayName, problem, `Choose from ${values}.`);
}

/** One of a list of options. Takes an expression only if the property allows it. */
export function choiceField<T extends string>(
	property: Property,
	options: Choices<T>,
	first: T,
): Field<T> {
	const shown = { noDataExpression: true, ...property, options };
	return {
		property: { ...shown, type: 'options', default: first },
		read: (value) => optionOf(value, options, property.displayName),
	};
}

/** At least one of a list of options. Also accepts text with commas between the values, and a JSON list. */
export function choicesField<T extends string>(
	property: Property,
	options: Choices<T>,
	chosen: T[],
): Field<T[]> {
	const { displayName } = property;
	const textsOf = (value: unknown) => entriesOf(value, displayName).join().split(',');
	return {
		property: { ...property, type: 'multiOptions', options, default: chosen },
		read: (value) => textsOf(value).map((text) => optionOf(text.trim(), options, displayName)),
	};
}

/** A number between the bounds of the editor. Also accepts text that contains a number, as spreadsheets do. */
export function numberField(
	property: Omit<INodeProperties, 'type'>,
	{ whole = false } = {},
): Field<number> {
	const { displayName, typeOptions, default: preset, placeholder } = property;
	const { minValue: minimum = 0, maxValue } = typeOptions ?? {};
	const kind = whole ? 'a whole number' : 'a number';
	const range = maxValue ? `from ${String(minimum)} to` : 'of at least';
	const what = `${kind} ${range} ${String(maxValue ?? minimum)}`;
	const example = placeholder?.replace('e.g. ', '') ?? show(preset);
	return {
		property: { ...property, type: 'number' },
		read(value) {
			const number = numberIn(value) ?? NaN;
			const isInRange = number >= minimum && number <= (maxValue ?? Infinity);
			if (isInRange && (!whole || Number.isInteger(number))) return number;
			throw mustBe(what, value, displayName, `Enter ${kind} such as ${example}.`);
		},
	};
}
