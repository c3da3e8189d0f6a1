import type { INodeProperties } from 'n8n-workflow';
import { filterFields } from '../operations/scrape/filters';
import { numberField, show, textField, type Field } from '../parameters';
import { InputError } from '../service/errors';

function choice<T extends string>(
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
				`has no choice ${show(value)}`,
				'Choose one from the list.',
			);
		},
	};
}

export const mode = choice(
	{ displayName: 'Mode', name: 'mode' },
	[
		{
			name: 'Start a Scrape and Receive Its Completion',
			value: 'startScrape',
			description:
				'Activating the workflow starts a scrape. When it is finished, the workflow runs.',
		},
		{
			name: 'Only Receive Completions',
			value: 'listen',
			description: 'Runs the workflow when a scrape is finished that was started elsewhere',
		},
	],
	'startScrape',
);

export const schedule = choice(
	{
		displayName: 'How Often',
		name: 'schedule',
		description: 'How often to start a scrape, beginning with the activation of the workflow',
	},
	[
		{ name: 'Custom (Cron)', value: 'cron' },
		{ name: 'Every Day', value: 'daily' },
		{ name: 'Every Hour', value: 'hourly' },
		{ name: 'Every Month', value: 'monthly' },
		{ name: 'Every Week', value: 'weekly' },
		{ name: 'Once', value: 'once' },
	],
	'once',
);

function clockField(
	displayName: string,
	name: string,
	[from, to, first]: [number, number, number],
	schedules: string[],
	description: string,
): Field<number> {
	return numberField(
		{
			displayName,
			name,
			typeOptions: { minValue: from, maxValue: to },
			default: first,
			displayOptions: { show: { schedule: schedules } },
			description,
		},
		{ minimum: from, maximum: to, whole: true },
	);
}

export const dayOfMonth = clockField(
	'Day of the Month',
	'triggerAtDayOfMonth',
	[1, 31, 1],
	['monthly'],
	'In a month that is shorter, its last day counts',
);

export const weekday = choice(
	{
		displayName: 'Day of the Week',
		name: 'triggerAtWeekday',
		displayOptions: { show: { schedule: ['weekly'] } },
	},
	[
		{ name: 'Friday', value: '5' },
		{ name: 'Monday', value: '1' },
		{ name: 'Saturday', value: '6' },
		{ name: 'Sunday', value: '0' },
		{ name: 'Thursday', value: '4' },
		{ name: 'Tuesday', value: '2' },
		{ name: 'Wednesday', value: '3' },
	],
	'1',
);

const LOCAL = 'In the time zone of the workflow, which its settings name';

export const hour = clockField(
	'Hour',
	'triggerAtHour',
	[0, 23, 9],
	['daily', 'weekly', 'monthly'],
	LOCAL,
);

export const minute = clockField(
	'Minute',
	'triggerAtMinute',
	[0, 59, 0],
	['hourly', 'daily', 'weekly', 'monthly'],
	'Minute of the hour',
);

export const cronExpression = textField({
	displayName: 'Cron Expression',
	name: 'cronExpression',
	required: true,
	placeholder: 'e.g. 0 9 * * 1-5',
	displayOptions: { show: { schedule: ['cron'] } },
	description:
		'Minute, hour, day of the month, month and weekday, in the time zone of the workflow. A sixth part in front stands for seconds.',
});

export const events: Field<string[]> = {
	property: {
		displayName: 'Events',
		name: 'events',
		type: 'multiOptions',
		noDataExpression: true,
		required: true,
		options: [
			{ name: 'Scrape Completed', value: 'completed' },
			{ name: 'Scrape Failed', value: 'failed' },
		],
		default: ['completed', 'failed'],
		description: 'Which ends of a scrape run the workflow',
	},
	read(value) {
		const chosen = (Array.isArray(value) ? value : [value]).map(String);
		const known = chosen.filter((event) => event === 'completed' || event === 'failed');
		if (known.length > 0 && known.length === chosen.length) return known;
		throw new InputError('Events', 'are not chosen', 'Choose completed, failed, or both.');
	},
};

export const testLimit = numberField(
	{
		displayName: 'Test Limit',
		name: 'testLimit',
		typeOptions: { minValue: 0 },
		default: 5,
		displayOptions: { show: { '/mode': ['startScrape'] } },
		description:
			'How many leads "Execute step" asks for at most, which may cost credits. With 0 it starts nothing and waits for a scrape that is started with the test URL.',
	},
	{ minimum: 0, whole: true },
);

export const testScrapeId = textField({
	displayName: 'Test Scrape ID',
	name: 'testScrapeId',
	placeholder: 'e.g. the scrapeId of an earlier scrape',
	description:
		'A scrape that "Execute step" waits for instead of starting one. With one that is finished the example is there at once and costs nothing, however long the scrape took.',
});

export const internalUrl = textField(
	{
		displayName: 'Internal URL',
		name: 'internalUrl',
		placeholder: 'e.g. http://127.0.0.1:5678',
		description:
			'The node calls its own production URL. Give the address under which n8n reaches itself, if it cannot do so by its public address.',
	},
	(text, displayName) => {
		if (URL.canParse(text) && /^https?:/i.test(text)) return text.replace(/\/+$/, '');
		throw new InputError(
			displayName,
			`must be a web address, and is ${show(text)}`,
			'Give an address such as http://127.0.0.1:5678, or leave it empty.',
		);
	},
);

/** Shows a property only for the mode that starts scrapes. */
function forStarts({ property }: Field): INodeProperties {
	const show = { mode: ['startScrape'], ...property.displayOptions?.show };
	return { ...property, displayOptions: { show } };
}

function notice(
	name: string,
	displayName: string,
	show: Record<string, string[]>,
): INodeProperties {
	return { displayName, name, type: 'notice', default: '', displayOptions: { show } };
}

export const properties: INodeProperties[] = [
	mode.property,
	notice(
		'startNotice',
		'Publishing or activating the workflow starts a scrape, which costs credits. So does "Execute step", with 5 leads at most (see Test Limit in the options). Where the service cannot reach n8n (localhost), the node looks at the status from time to time.',
		{ mode: ['startScrape'] },
	),
	notice(
		'listenNotice',
		'Copy the Production URL above into the option "Webhook URL" of a LeadGen node that starts scrapes. Each of those scrapes runs this workflow when it is finished. The service must be able to reach this n8n: at localhost nothing comes in, so set WEBHOOK_URL to its public address.',
		{ mode: ['listen'] },
	),
	...filterFields.map(forStarts),
	...[schedule, cronExpression, dayOfMonth, weekday, hour, minute].map(forStarts),
	events.property,
	{
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add Option',
		default: {},
		options: [internalUrl.property, testLimit.property, testScrapeId.property],
	},
];
