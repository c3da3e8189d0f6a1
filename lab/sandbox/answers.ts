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
	) {
		super(message);
	}
}

export function jsonAnswer(status: number, value: unknown): Answer {
	const headers = { 'content-type': 'application/json; charset=utf-8' };
	return { status, headers, body: JSON.stringify(value) };
}

/** The HTTP status of each error code; that of all others is 400. */
const STATUS: Partial<Record<string, number>> = {
	UNAUTHORIZED: 401,
	INSUFFICIENT_CREDITS: 402,
	NOT_FOUND: 404,
	RATE_LIMIT_EXCEEDED: 429,
};

/** The error envelope; the HTTP status is that of the code unless it is given. */
export function errorAnswer(code: string, message: string, status = STATUS[code] ?? 400): Answer {
	return jsonAnswer(status, { success: false, error: { code, message } });
}
