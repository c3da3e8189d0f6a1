import type { FastifyInstance } from 'fastify';
import { isFields } from './settings';
import type { Settings, SettingsPatch } from './settings';

type ById = { Params: { id: string } };

/** What the control endpoint offers of the sandbox. */
interface Controlled {
	readonly url: string;
	readonly settings: Settings;
	readonly requests: unknown[];
	readonly jobs: Array<{ scrapeId: string }>;
	credits(apiKey: string): number;
	set(patch: SettingsPatch): void;
	reset(patch: SettingsPatch): void;
	finish(scrapeId: string, outcome: 'completed' | 'failed'): void;
	notify(scrapeId: string): Promise<unknown>;
}

/** The control endpoint, for those that run in another process: the programmatic API over HTTP. */
export function addControl(app: FastifyInstance, sandbox: Controlled): void {
	const state = () => ({
		url: sandbox.url,
		settings: sandbox.settings,
		credits: Object.fromEntries(
			Object.keys(sandbox.settings.accounts).map((key) => [key, sandbox.credits(key)]),
		),
		requests: sandbox.requests.length,
		jobs: sandbox.jobs.length,
	});
	const routes = async (control: FastifyInstance): Promise<void> => {
		// A wrong setting or id is the caller's mistake.
		control.setErrorHandler((error, _request, reply) =>
			reply.code(400).send({ error: error instanceof Error ? error.message : String(error) }),
		);
		control.get('/state', state);
		control.get('/requests', () => sandbox.requests);
		control.get('/jobs', () => sandbox.jobs);
		control.post('/settings', (request) => {
			sandbox.set(patchFrom(request.body));
			return state();
		});
		control.post('/reset', (request) => {
			sandbox.reset(patchFrom(request.body));
			return state();
		});
		control.post<ById>('/jobs/:id/finish', (request) => {
			const { outcome = 'completed' } = patchFrom(request.body) as { outcome?: unknown };
			if (outcome !== 'completed' && outcome !== 'failed') throw new Error('No such outcome');
			sandbox.finish(request.params.id, outcome);
			return sandbox.jobs.find(({ scrapeId }) => scrapeId === request.params.id);
		});
		control.post<ById>('/jobs/:id/notify', (request) => sandbox.notify(request.params.id));
		await Promise.resolve();
	};
	void app.register(routes, { prefix: '/_sandbox' });
}

/** The object that the body is; none is an empty one. */
function patchFrom(body: unknown): SettingsPatch {
	if (body === undefined || body === null) return {};
	if (!isFields(body)) throw new Error('Send a JSON object');
	return body;
}
