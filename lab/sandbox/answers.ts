import type { Settings } from './settings';

/** An HTTP answer that is ready to be sent. */
export interface Answer {
	status: number;
	headers: Record<string, string>;
	body: string;
}

/** An error of the service (docs/service.md, The envelope), thrown by the work of an operation. */
export class Refusal extends Error {
	constructor(
		readonly code: string,
		message: string,
		/** Credits that are taken all the same. */
		readonly cost = 0,
	) {
		super(message);
	}
}

export function jsonAnswer(status: number, value: unknown): Answer {
	return {
		status,
		headers: { 'content-type': 'application/json; charset=utf-8' },
		body: JSON.stringify(value),
	};
}

export function htmlAnswer(status: number): Answer {
	const title = `Error ${String(status)}`;
	return {
		status,
		headers: { 'content-type': 'text/html; charset=utf-8' },
		body: `<!DOCTYPE html><html><head><title>${title}</title></head><body>${title}</body></html>`,
	};
}

/** The error envelope; the HTTP status is that of the code unless it is given. */
export function errorAnswer(
	settings: Settings,
	code: string,
	message: string,
	status = settings.errorStatus[code] ?? 400,
): Answer {
	return jsonAnswer(status, { success: false, error: { code, message } });
}
