import { exampleLeads } from './people';
import type { JobSettings, NotificationSettings } from './settings';

/** `data` of the status operation (docs/service.md, Scrapes and their status). */
export interface ScrapeStatus {
	scrapeId: string;
	status: 'pending' | 'processing' | JobSettings['outcome'];
	progress: number;
	leadsFound: number;
	creditsUsed: number;
	createdAt: string;
	completedAt?: string;
}

const JSON_TYPE = 'application/json';

/** The completion notification; neither its method nor its shape is known (docs/service.md). */
export function notificationRequest(
	{ method, shape }: NotificationSettings,
	webhookUrl: string,
	status: ScrapeStatus,
): { method: string; url: string; headers?: Record<string, string>; body?: string } {
	const fields = new URLSearchParams();
	for (const [name, value] of Object.entries(status)) fields.append(name, String(value));
	if (method === 'GET' || shape === 'query') {
		const url = new URL(webhookUrl);
		for (const [name, value] of fields) url.searchParams.append(name, value);
		return { method, url: url.href };
	}
	const [type, body] = content(shape, status, fields);
	const headers = type === undefined ? undefined : { 'content-type': type };
	return { method, url: webhookUrl, headers, body };
}

/** Content type and text of the body. */
function content(
	shape: Exclude<NotificationSettings['shape'], 'query'>,
	status: ScrapeStatus,
	fields: URLSearchParams,
): [type?: string, body?: string] {
	switch (shape) {
		case 'flat':
			return [JSON_TYPE, JSON.stringify(status)];
		case 'leads': {
			const leads = exampleLeads(status.scrapeId, status.leadsFound);
			const event = `scrape.${status.status}`;
			return [JSON_TYPE, JSON.stringify({ event, data: { ...status, leads } })];
		}
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
