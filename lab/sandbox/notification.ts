import { exampleLeads } from './people';
import type { NotificationSettings } from './settings';

/** `data` of the status operation (docs/service.md, Scrapes and their status). */
export interface ScrapeStatus {
	scrapeId: string;
	status: 'pending' | 'processing' | 'completed' | 'failed';
	progress: number;
	leadsFound: number;
	creditsUsed: number;
	createdAt: string;
	completedAt?: string | null;
}

export interface NotificationRequest {
	method: string;
	url: string;
	headers?: Record<string, string>;
	body?: string;
}

const JSON_TYPE = 'application/json';

/** The completion notification; neither its method nor its shape is known (docs/service.md). */
export function notificationRequest(
	seed: number,
	{ method, shape }: NotificationSettings,
	webhookUrl: string,
	status: ScrapeStatus,
): NotificationRequest {
	const fields = new URLSearchParams();
	for (const [name, value] of Object.entries(status)) fields.append(name, String(value));
	if (method === 'GET' || shape === 'query') {
		const url = new URL(webhookUrl);
		for (const [name, value] of fields) url.searchParams.append(name, value);
		return { method, url: url.href };
	}
	const [type, body] = content(seed, shape, status, fields);
	const headers = type === undefined ? undefined : { 'content-type': type };
	return { method, url: webhookUrl, headers, body };
}

/** Content type and text of the body. */
function content(
	seed: number,
	shape: Exclude<NotificationSettings['shape'], 'query'>,
	status: ScrapeStatus,
	fields: URLSearchParams,
): [type?: string, body?: string] {
	const event = `scrape.${status.status}`;
	switch (shape) {
		case 'flat':
			return [JSON_TYPE, JSON.stringify(status)];
		case 'nested':
			return [JSON_TYPE, JSON.stringify({ event, data: status })];
		case 'envelope':
			return [JSON_TYPE, JSON.stringify({ success: true, data: status })];
		case 'leads': {
			const leads = exampleLeads(seed, status.scrapeId, status.leadsFound);
			return [JSON_TYPE, JSON.stringify({ event, data: { ...status, leads } })];
		}
		case 'snake':
			return [JSON_TYPE, JSON.stringify(snakeCased(status))];
		case 'form':
			return ['application/x-www-form-urlencoded', fields.toString()];
		case 'text':
			return ['text/plain', `Scrape ${status.scrapeId} ${status.status}`];
		case 'broken':
			return [JSON_TYPE, JSON.stringify(status).slice(0, -5)];
		case 'empty':
			return [];
	}
}

function snakeCased(value: object): Record<string, unknown> {
	return Object.fromEntries(
		Object.entries(value).map(([name, inner]: [string, unknown]) => [
			name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
			inner,
		]),
	);
}
