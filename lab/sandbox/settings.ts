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
	/**
	 * What a finder needs: `lenient` a name, and for a business email a company or a profile · `strict` every field that
	 * the interface does not call optional.
	 */
	finders: 'lenient' | 'strict';
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
	/** `awkward` needs escaping in a URL; `number-like` is all digits. */
	scrapeIdStyle: 'string' | 'number-like' | 'awkward';
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
	/** How long after the end of the job it is sent; a negative time is before the end. */
	delayMs: number;
	/** How often a sending that was not answered with 2xx is tried again. */
	retries: number;
	/** Pause before each of those. */
	backoffMs: number;
}

export interface RateLimitSettings {
	enabled: boolean;
	/** The "custom" limit of enterprise accounts; null is none. */
	enterprisePerMinute: number | null;
	/** The window that the limit is for: shorter than a minute makes quick tests. */
	windowMs: number;
	/** Windows by the clock, or the last `windowMs`. */
	kind: 'fixed' | 'sliding';
	/** `retryAfterSeconds` on refusals; `ratelimit` (RateLimit-Limit, -Remaining, -Reset in s) on every answer. */
	headers: 'none' | 'retryAfterSeconds' | 'ratelimit';
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
	/** Body of `status`: an error envelope by default. */
	body?: string;
	/** Further headers, such as Retry-After. */
	headers?: Record<string, string>;
	/** Error code and message of `envelope` and `status`. */
	code?: string;
	message?: string;
	/** Target of `redirect`; by default a path that the service does not have. */
	location?: string;
	/** Pause of `slowBody`, default 200. */
	delayMs?: number;
}

export interface FaultMatch {
	operation?: string;
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
		accounts: { 'test-key': { plan: 'pro', credits: 1000 } },
		latencyMs: 0,
		extraFields: false,
		finders: 'lenient',
		unknownScrape: 'NOT_FOUND',
		job: { durationMs: 1000, outcome: 'completed', scrapeIdStyle: 'string' },
		notification: {
			method: 'POST',
			shape: 'flat',
			times: 1,
			delayMs: 0,
			retries: 0,
			backoffMs: 100,
		},
		rateLimit: {
			enabled: true,
			enterprisePerMinute: null,
			windowMs: 60_000,
			kind: 'fixed',
			headers: 'none',
		},
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
