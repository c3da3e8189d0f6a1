import type { IDataObject } from 'n8n-workflow';
import { isObject, jsonIn } from './json';
import { InputError } from './errors';
import { choiceField, numberField, textField, type Field, type Parameters } from './parameters';
import { mustBe, show, toList } from './values';

function listFilter(displayName: string, name: string, placeholder: string): Field<string[]> {
	return {
		property: {
			displayName,
			name,
			type: 'string',
			typeOptions: { multipleValues: true, multipleValueButtonText: 'Add Another' },
			default: [],
			placeholder,
			description:
				'One value per field, since commas do not separate values. An expression can return a list.',
		},
		read: (value) => toList(value, displayName),
	};
}

/**
 * A range as `<min>-<max>` (docs/service.md, Operations). Also accepts `11 – 50 employees`, `1,001-5,000`, `10,001+`.
 */
function toRange(text: string, displayName: string): string {
	const range = text
		.replace(/\s?employees$/i, '')
		.replace(/[\s,]/g, '')
		.replace(/[–—]/, '-');
	const [, min = '', max = OPEN_END] = /^(\d+)(?:-(\d+)|\+)$/.exec(range) ?? [];
	if (min !== '' && Number(min) <= Number(max)) return `${min}-${max}`;
	throw mustBe('a range written <min>-<max>', text, displayName, 'Enter a range such as 11-50.');
}

/** The greatest company size, for a range without an end. */
const OPEN_END = '1000000';

const companySize = textField(
	{
		displayName: 'Company Size',
		name: 'companySize',
		placeholder: 'e.g. 51-200',
		description: 'The number of employees, from the least to the most',
	},
	toRange,
);

/** The filters in the order of the editor. `limit` has its own field. */
const FILTERS: ReadonlyArray<Field<string | string[]>> = [
	listFilter('Job Titles', 'jobTitles', 'e.g. Head of Sales'),
	listFilter('Locations', 'locations', 'e.g. Austin, Texas'),
	listFilter('Industries', 'industries', 'e.g. Software'),
	companySize,
];

const filtersMode = choiceField(
	{ displayName: 'Specify Filters', name: 'filtersMode', description: 'How to set the filters' },
	[
		{ name: 'Using Fields Below', value: 'fields' },
		{ name: 'Using JSON', value: 'json' },
	],
	'fields',
);

const filtersCollection: Field<IDataObject> = {
	property: {
		displayName: 'Filters',
		name: 'filters',
		type: 'collection',
		placeholder: 'Add Filter',
		default: {},
		displayOptions: { show: { filtersMode: ['fields'] } },
		options: FILTERS.map(({ property }) => property),
		description:
			'Which leads to look for. Without a filter, the scrape collects leads of any kind, up to the limit.',
	},
	read: (value) => toFilters(value, 'Filters'),
};

const filtersJson: Field<IDataObject> = {
	property: {
		displayName: 'Filters (JSON)',
		name: 'filtersJson',
		type: 'json',
		default:
			'{\n  "jobTitles": [],\n  "locations": [],\n  "industries": [],\n  "companySize": ""\n}',
		displayOptions: { show: { filtersMode: ['json'] } },
		description: 'An object with any of jobTitles, locations, industries, companySize and limit',
	},
	read: (value) => toFilters(value, 'Filters (JSON)'),
};

const limit = numberField(
	{
		displayName: 'Limit',
		name: 'limit',
		typeOptions: { minValue: 1 },
		default: 50,
		description: 'Max number of leads to collect',
	},
	{ whole: true },
);

/** The parameters that select the leads, in the order of the editor. */
export const filterFields: readonly Field[] = [filtersMode, filtersCollection, filtersJson, limit];

/**
 * The `filters` of a start (docs/service.md, Operations): cleaned, without empty filters, always with `limit`.
 * @throws InputError for invalid values, and if an AI agent sets no filter
 */
export function readFilters(parameters: Parameters): IDataObject {
	const field = parameters.get(filtersMode) === 'json' ? filtersJson : filtersCollection;
	const filters = { limit: parameters.get(limit), ...parameters.get(field) };
	// A model may forget the filters.
	if (parameters.isTool && Object.keys(filters).length === 1) {
		throw new InputError(
			'Filters',
			'are empty, and an AI agent must set at least one of jobTitles, locations, industries and companySize',
			'A scrape without filters collects leads of any kind, and uses credits for them.',
		);
	}
	return filters;
}

/**
 * @throws InputError for anything that is not a filter, because the user pays for the leads that it would let through
 */
function toFilters(value: unknown, displayName: string): IDataObject {
	const filters = jsonIn(value);
	if (!isObject(filters)) {
		const advice = 'Enter an object such as { "jobTitles": ["Head of Sales"] }.';
		throw mustBe('a JSON object', value, displayName, advice);
	}
	const fields = [...FILTERS, limit];
	const cleaned: IDataObject = {};
	for (const [name, entry] of Object.entries(filters)) {
		const field = fields.find(({ property }) => property.name === name);
		if (!field) {
			throw new InputError(
				displayName,
				`contains ${show(name)}, which is not a filter`,
				`The filters are ${fields.map(({ property }) => property.name).join(', ')}.`,
			);
		}
		const clean = field.read(entry);
		if (typeof clean === 'number' || clean.length > 0) cleaned[name] = clean;
	}
	return cleaned;
}
