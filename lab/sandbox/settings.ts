/**
 * Every setting of the sandbox. Much of what the interface leaves open is a setting here, so that a
 * client can be tried against each reading. Durations are milliseconds; null means "not set".
 */
export interface Settings {
	/** The accounts by API key. Setting this replaces all accounts and their balances. */
	accounts: Record<string, Account>;
	/** How long an answer takes. */
	latencyMs: number;
	/** Adds a `requestId` to the `data` of every success, a field that the interface does not name. */
	extraFields: boolean;
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
	/** `awkward` needs escaping in a URL. */
	scrapeIdStyle: 'string' | 'awkward';
}

export interface NotificationSettings {
	/** With GET the fields always travel in the query string. */
	method: 'POST' | 'PUT' | 'GET';
	/**
	 * `flat` {scrapeId, status, …} · `leads` {event, data} with example records ·
	 * `form` and `query` url-encoded · `text` prose · `empty` no body · `broken` cut-off JSON.
	 */
	shape: 'flat' | 'leads' | 'form' | 'query' | 'text' | 'empty' | 'broken';
	/** How often each notification is sent, at once; 0 loses it. */
	times: number;
	/** The pause before it is sent again, until it is answered with 2xx; null sends it once. */
	retryMs: number | null;
}

export interface RateLimitSettings {
	/** Requests in any minute; null is the limit of the plan, and `Infinity` none. */
	perMinute: number | null;
	/** Whether refusals have the header Retry-After. */
	retryAfter: boolean;
}

export interface FaultRule {
	/**
	 * What goes wrong. `status` any HTTP status · `html` a page · `envelope` an error · `reset…` the connection is cut ·
	 * `hang` no answer ever · `late` the answer comes later. Only with `resetAfterWork` and `late` is the work done, and
	 * charged.
	 */
	kind: 'status' | 'html' | 'envelope' | 'resetBeforeWork' | 'resetAfterWork' | 'hang' | 'late';
	/** Which requests; left out means all of them. */
	match?: FaultMatch;
	/** HTTP status; 500 for `status`, 200 for `html`, otherwise that of the error code. */
	status?: number;
	/** Body of `status`: an error envelope by default. */
	body?: string;
	/** Further headers, such as Location. */
	headers?: Record<string, string>;
	/** Error code and message of `envelope` and `status`. */
	code?: string;
	message?: string;
	/** How much later a `late` answer comes. */
	delayMs?: number;
}

export interface FaultMatch {
	/** The exact path, without the query. */
	path?: string;
	/** A text in the body or the query, as JSON writes them. */
	bodyIncludes?: string;
	/** Which of the requests that match so far fire, counted from 1; default all. */
	nth?: number[];
	/** How often the rule fires at most. */
	times?: number;
}

/** The settings of a new sandbox; a copy of its own for every call. */
export function defaultSettings(): Settings {
	return {
		accounts: { 'test-key': { plan: 'pro', credits: 1000 } },
		latencyMs: 0,
		extraFields: false,
		job: { durationMs: 1000, outcome: 'completed', scrapeIdStyle: 'string' },
		notification: { method: 'POST', shape: 'flat', times: 1, retryMs: null },
		rateLimit: { perMinute: null, retryAfter: false },
		faults: [],
	};
}

type Group = 'job' | 'notification' | 'rateLimit';
/** A part of the settings: groups may be given in part as well. */
export type SettingsPatch = Partial<Omit<Settings, Group>> & {
	[Name in Group]?: Partial<Settings[Name]>;
};

/** New settings with `patch` merged in; lists and `accounts` are replaced whole. */
export function mergeSettings(settings: Settings, patch: SettingsPatch): Settings {
	const { job, notification, rateLimit, ...others } = structuredClone(patch);
	return {
		...settings,
		...others,
		job: { ...settings.job, ...job },
		notification: { ...settings.notification, ...notification },
		rateLimit: { ...settings.rateLimit, ...rateLimit },
	};
}
