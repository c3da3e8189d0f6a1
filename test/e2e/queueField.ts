import { N8nApi } from '../../playground/api';
import { QueueMode, type Role } from '../../playground/queue';
import { Field, N8N, OWNER } from './field';

/** A main process, two workers, and one webhook process or two, behind a balancer. */
export class QueueField extends Field {
	queue!: QueueMode;

	override async start(): Promise<void> {
		const env = {
			...this.env,
			// The jobs of a worker that was killed are noticed within seconds rather than a minute and a half.
			QUEUE_WORKER_LOCK_DURATION: '20000',
			QUEUE_WORKER_LOCK_RENEW_TIME: '5000',
			QUEUE_WORKER_STALLED_INTERVAL: '5000',
		};
		this.queue = new QueueMode({ version: N8N, folder: this.folder, port: this.port, env });
		await this.queue.open(['main', 'webhook1', 'worker1', 'worker2']);
	}

	override async stop(): Promise<void> {
		await this.queue.close();
	}

	override get webhookBase(): string {
		return this.queue.webhookUrl;
	}

	/** All that follows asks this main process. */
	async turnTo(main: Role): Promise<void> {
		this.api = new N8nApi(this.queue.url(main));
		await this.api.signIn(OWNER);
	}
}
