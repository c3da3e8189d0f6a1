import type { INodeProperties, NodeParameterValueType } from 'n8n-workflow';
import { numberIn } from './json';
import { InputError } from './service/errors';

/** A parameter of the node together with the way its value is read and checked. */
export interface Field<T = unknown> {
	property: INodeProperties;
	/** @throws InputError if the value can only be wrong */
	read: (value: unknown) => T;
}

/** The parameters of one item (action node) or of the node (trigger). */
export class Parameters {
	/**
	 * @param raw gives the value of a parameter, with its expressions resolved, by its path, such as `options.location`
	 * @param place where in the execution they belong to; the same when n8n runs the node again
	 * @param isTool whether an AI agent gave them
	 */
	constructor(
		private readonly raw: (path: string, ifMissing?: NodeParameterValueType) => unknown,
		readonly place = '',
		readonly isTool = false,
	) {}

	get<T>(field: Field<T>): T {
		return field.read(this.raw(field.property.name));
	}

	/** A field inside the "Options" collection; its default where the person did not add it. */
	option<T>(field: Field<T>): T {
		const { name, default: ifMissing } = field.property;
		return field.read(this.raw(`options.${name}`, ifMissing));
	}
}

type TextProperty = Omit<INodeProperties, 'type' | 'default'>;

/**
 * A line of text: trimmed, empty for anything blank.
 * @param clean brings the text to the form that the service takes; not called for an empty text
 */
export function textField(
	property: TextProperty,
	clean: (text: string, displayName: string) => string = (text) => text,
): Field<string> {
	const { displayName } = property;
	return {
		property: { ...property, type: 'string', default: '' },
		read(value) {
			const text = toText(value, displayName).trim();
			return text === '' ? '' : clean(text, displayName);
		},
	};
}

/**
 * A switch; a text or number that means on or off, as spreadsheets have it, will do.
 * @param isEmptyOff whether it is off if an expression gives nothing
 */
export function booleanField(
	property: Omit<INodeProperties, 'type'>,
	isEmptyOff = true,
): Field<boolean> {
	return {
		property: { ...property, type: 'boolean' },
		read(value) {
			const text = toText(value, property.displayName).trim().toLowerCase();
			if (/^(true|yes|on|1)$/.test(text)) return true;
			if (/^(false|no|off|0)$/.test(text) || (isEmptyOff && text === '')) return false;
			throw new InputError(
				property.displayName,
				`must be on or off, but is ${show(value)}`,
				'Change the expression so that it returns true or false.',
			);
		},
	};
}

/** Some of a list of values, at least one; a text with commas between them, or their names, will do. */
export function choicesField<T extends string>(
	property: Omit<INodeProperties, 'type' | 'default' | 'options'>,
	options: ReadonlyArray<{ name: string; value: T; description?: string }>,
	chosen: T[],
): Field<T[]> {
	const { displayName } = property;
	return {
		property: { ...property, type: 'multiOptions', options: [...options], default: chosen },
		read(value) {
			const given = Array.isArray(value) ? value : toText(value, displayName).split(',');
			if (given.length === 0) {
				throw new InputError(displayName, 'is empty', 'Choose at least one option.');
			}
			return given.map((each: unknown) => {
				const text = toText(each, displayName).trim().toLowerCase();
				const known = options.find(
					(option) => option.value === text || option.name.toLowerCase() === text,
				);
				if (known) return known.value;
				throw new InputError(
					displayName,
					`has no option ${show(each)}`,
					`Choose one or more of ${options.map((option) => option.value).join(', ')}.`,
				);
			});
		},
	};
}

/** One of a list of values. */
export function choiceField<T extends string>(
	property: Omit<INodeProperties, 'type' | 'default' | 'noDataExpression' | 'options'>,
	options: ReadonlyArray<{ name: string; value: T; description?: string }>,
	first: T,
): Field<T> {
	return {
		property: {
			...property,
			type: 'options',
			noDataExpression: true,
			options: [...options],
			default: first,
		},
		read(value) {
			const known = options.find((option) => option.value === value);
			if (known) return known.value;
			throw new InputError(
				property.displayName,
				`has no option ${show(value)}`,
				'Choose an option from the list.',
			);
		},
	};
}

/** A number from `minimum` to `maximum`; a text that holds one, as spreadsheets have it, will do. */
export function numberField(
	property: Omit<INodeProperties, 'type'>,
	{
		minimum,
		maximum = Infinity,
		whole = false,
	}: { minimum: number; maximum?: number; whole?: boolean },
): Field<number> {
	const kind = whole ? 'a whole number' : 'a number';
	const range =
		maximum === Infinity
			? `of at least ${String(minimum)}`
			: `from ${String(minimum)} to ${String(maximum)}`;
	return {
		property: { ...property, type: 'number' },
		read(value) {
			const number = numberIn(value);
			if (
				number === undefined ||
				number < minimum ||
				number > maximum ||
				(whole && !Number.isInteger(number))
			) {
				throw new InputError(
					property.displayName,
					`must be ${kind} ${range}, but is ${show(value)}`,
					`Enter ${kind} such as ${show(property.default)}.`,
				);
			}
			return number;
		},
	};
}

/** Text of a value that an expression brought; lists and objects are a mistake of the expression. */
export function toText(value: unknown, displayName: string): string {
	if (typeof value === 'string') return value;
	if (value === null || value === undefined) return '';
	if (typeof value === 'number' || typeof value === 'boolean') return String(value);
	throw new InputError(
		displayName,
		`must be text, but is ${show(value)}`,
		'Change the expression so that it returns a single text value.',
	);
}

/** A value in an error message, short enough to read. */
export function show(value: unknown): string {
	const text = value === undefined ? 'empty' : JSON.stringify(value);
	return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}
