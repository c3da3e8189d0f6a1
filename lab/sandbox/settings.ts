/**
 * Every setting of the sandbox. Much of what the interface leaves open is a setting here, so that a
 * client can be tried against each reading. Durations are milliseconds; null means "not set".
 */
export interface Settings {
	/** Decides every result: the same seed and the same requests give the same answers. */
	seed: number;
	/** The accounts by API key. Setting this replaces all accounts and their balances. */
	accounts: Record<string, Account>;
	/** Credits for each lead of a scrape; the real prices are not known (docs/service.md, Credits). */
	cost: { startPerLead: number };
	/** How long an answer takes: always as long, or between two times, drawn by the seed. */
	latencyMs: number | [least: number, most: number];
	/** Adds a `requestId` to the `data` of every success, a field that the interface does not name. */
	extraFields: boolean;
	/** The error code for a scrapeId nobody has. */
	unknownScrape: string;
	job: JobSettings;
	notification: NotificationSettings;
	rateLimit: RateLimitSettings;
	/** Tried in order; the first rule that fires decides. Setting this starts all counts anew. */
	faults: FaultRule[];
}

export interface Account {
	/** `starter`, `pro` and `enterprise` have limits of their own; any other name has none. */
	plan: string;
	credits: number;
}

export interface JobSettings {
	/** From start to end: the first 20 % `pending`, then `processing`. Taken when a job starts. */
	durationMs: number;
	/** How jobs end. Taken when a job starts. */
	outcome: 'completed' | 'failed';
	/** What share of `limit` a completed job has found, 0 to 1; a failed one has half of that. */
	leadShare: number;
	/** How long the status operation still says `processing` after the job has ended. */
	statusLagMs: number;
	/** Whether an unfinished job shows `completedAt: null` or no `completedAt`. */
	nullsInStatus: boolean;
	/** `awkward` needs escaping in a URL; `number-like` is all digits. */
	scrapeIdStyle: 'string' | 'number-like' | 'awkward';
}

export interface NotificationSettings {
	/** With GET the fields always travel in the query string. */
	method: 'POST' | 'PUT' | 'GET';
	/**
	 * `flat` {scrapeId, status, …} · `nested` {event, data} · `envelope` {success, data} · `leads` as
	 * `nested` with example records · `snake` {scrape_id, …} · `form` and `query` url-encoded · `text`
	 * prose · `empty` no body · `broken` cut-off JSON.
	 */
	shape:
		| 'flat'
		| 'nested'
		| 'envelope'
		| 'leads'
		| 'snake'
		| 'form'
		| 'query'
		| 'text'
		| 'empty'
		| 'broken';
	/** How often each notification is sent; 0 loses it. */
	times: number;
	/** Whether the repeats go out at once rather than one after the other. */
	parallel: boolean;
	/** Pause before each sending. */
	delayMs: number;
	/** How long before the end of the job it is sent. */
	earlyMs: number;
	/** How often a sending that was not answered with 2xx is tried again. */
	retries: number;
	/** Pause before each of those. */
	backoffMs: number;
}

export interface RateLimitSettings {
	enabled: boolean;
	/** Requests per window for every account; null goes by plan (docs/service.md, Rate limits). */
	perMinute: number | null;
	/** The "custom" limit of enterprise accounts; null is none. */
	enterprisePerMinute: number | null;
	/** The window that the limit is for: shorter than a minute makes quick tests. */
	windowMs: number;
	/** Windows by the clock, the last `windowMs`, or a bucket that refills evenly. */
	kind: 'fixed' | 'sliding' | 'tokenBucket';
	/**
	 * `retryAfter…` on refusals; `ratelimit` (RateLimit-Limit, -Remaining, -Reset in s) and
	 * `xRatelimit` (X-RateLimit-…, -Reset as epoch s) on every answer.
	 */
	headers: 'none' | 'retryAfterSeconds' | 'retryAfterDate' | 'ratelimit' | 'xRatelimit';
}

/**
 * What goes wrong. `status` any HTTP status · `html` a page · `brokenJson` · `emptyBody` ·
 * `noData` {success: true} · `envelope` an error · `redirect` · `reset…` the connection is cut ·
 * `hang…` no answer ever · `slowBody` half of the body, a pause, the rest.
 */
export type FaultKind =
	| 'status'
	| 'html'
	| 'brokenJson'
	| 'emptyBody'
	| 'noData'
	| 'envelope'
	| 'redirect'
	| 'resetBeforeWork'
	| 'resetAfterWork'
	| 'resetMidBody'
	| 'hang'
	| 'hangAfterWork'
	| 'slowBody';

export interface FaultRule {
	kind: FaultKind;
	/** Which requests; left out means all of them. */
	match?: FaultMatch;
	/**
	 * Whether the work is done, and charged, first. Only for kinds that answer: the `reset…`, `hang…`
	 * and `slowBody` kinds say so by themselves. Default false.
	 */
	afterWork?: boolean;
	/** HTTP status; 500 for `status`, 302 for `redirect`, otherwise 200 or that of the error code. */
	status?: number;
	/** Body of `status`: an error envelope by default, `empty`, or any other text as it is. */
	body?: string;
	/** Further headers, such as Retry-After. */
	headers?: Record<string, string>;
	/** Error code and message of `envelope` and `status`. */
	code?: string;
	message?: string;
	/** Target of `redirect`; default a path that the service does not have. */
	location?: string;
	/** Pause of `slowBody`, default 200. */
	delayMs?: number;
}

export interface FaultMatch {
	operation?: string;
	method?: string;
	/** The exact path, without the query. */
	path?: string;
	/** A text in the body, as JSON writes it. */
	bodyIncludes?: string;
	/** Which of the requests that match so far fire, counted from 1; default all. */
	nth?: number[];
	/** How often the rule fires at most. */
	times?: number;
}

/** The settings of a new sandbox; a copy of its own for every call. */
export function defaultSettings(): Settings {
	return {
		seed: 1,
		accounts: { 'test-key': { plan: 'pro', credits: 1000 } },
		cost: { startPerLead: 1 },
		latencyMs: 0,
		extraFields: false,
		unknownScrape: 'NOT_FOUND',
		job: {
			durationMs: 1000,
			outcome: 'completed',
			leadShare: 1,
			statusLagMs: 0,
			nullsInStatus: false,
			scrapeIdStyle: 'string',
		},
		notification: {
			method: 'POST',
			shape: 'flat',
			times: 1,
			parallel: false,
			delayMs: 0,
			earlyMs: 0,
			retries: 0,
			backoffMs: 100,
		},
		rateLimit: {
			enabled: true,
			perMinute: null,
			enterprisePerMinute: null,
			windowMs: 60_000,
			kind: 'fixed',
			headers: 'none',
		},
		faults: [],
	};
}

/** A part of the settings: groups may be given in part as well. */
export type SettingsPatch = {
	[Key in keyof Settings]?: Settings[Key] extends unknown[]
		? Settings[Key]
		: Settings[Key] extends object
			? Partial<Settings[Key]>
			: Settings[Key];
};

/**
 * New settings with `patch` merged in; lists and `accounts` are replaced whole.
 * @throws if the patch names a setting that does not exist
 */
export function mergeSettings(settings: Settings, patch: SettingsPatch): Settings {
	return merge({ ...settings }, { ...patch }) as unknown as Settings;
}

type Fields = Record<string, unknown>;

export function isFields(value: unknown): value is Fields {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function merge(base: Fields, patch: Fields): Fields {
	const result = { ...base };
	for (const [name, value] of Object.entries(patch)) {
		if (!(name in base)) throw new Error(`There is no setting ${name}`);
		const current = base[name];
		const inner = isFields(current) && isFields(value) && name !== 'accounts';
		result[name] = structuredClone(inner ? merge(current, value) : value);
	}
	return result;
}
