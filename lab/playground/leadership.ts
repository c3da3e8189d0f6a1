/**
 * A file of external hooks for n8n (`EXTERNAL_HOOK_FILES`): a main process leads or follows as it is told,
 * by `POST /leadership/leader` and `POST /leadership/follower`. Where several main processes elect their
 * leader, which n8n wants a licence for, n8n calls the same handlers of its own.
 */
import { createRequire } from 'node:module';
import type { ServerResponse } from 'node:http';

interface Handler {
	eventHandlerClass: abstract new () => Record<string, () => unknown>;
	methodName: string;
	eventName: 'leader-takeover' | 'leader-stepdown';
}
/** n8n 2 calls them entries. */
type Handlers = { getHandlers(): Handler[] } | { getEntries(): Handler[] };
interface Server {
	app: { post(path: string, handle: (request: unknown, response: ServerResponse) => void): void };
}

// The modules of the n8n that runs us, not those of this project.
const requireOfN8n = createRequire(process.argv[1] ?? '');
const { Container } = requireOfN8n('@n8n/di') as typeof import('@n8n/di');
const { InstanceSettings } = requireOfN8n('n8n-core') as typeof import('n8n-core');
const { MultiMainMetadata } = requireOfN8n('@n8n/decorators') as {
	MultiMainMetadata: abstract new () => Handlers;
};

/** Resolves when all has begun, or ended, that only a leader does. */
async function become(role: 'leader' | 'follower'): Promise<void> {
	const settings = Container.get(InstanceSettings);
	if (settings.isLeader === (role === 'leader')) return;
	if (role === 'leader') settings.markAsLeader();
	else settings.markAsFollower();
	const wanted = role === 'leader' ? 'leader-takeover' : 'leader-stepdown';
	const metadata = Container.get(MultiMainMetadata);
	const handlers = 'getEntries' in metadata ? metadata.getEntries() : metadata.getHandlers();
	await Promise.all(
		handlers
			// What looks after n8n's licence would call its server.
			.filter(
				({ eventName, eventHandlerClass }) =>
					eventName === wanted && eventHandlerClass.name !== 'License',
			)
			.map(({ eventHandlerClass, methodName }) => Container.get(eventHandlerClass)[methodName]?.()),
	);
}

function ready(server: Server): void {
	for (const role of ['leader', 'follower'] as const) {
		server.app.post(`/leadership/${role}`, (_request, response) => {
			become(role).then(
				() => response.end(),
				(error: unknown) => response.writeHead(500).end(String(error)),
			);
		});
	}
}

export const n8n = { ready: [ready] };
