import type { IDataObject } from 'n8n-workflow';
import type { TriggerNode } from './node';
import { never, type Process } from './process';
import type { World } from './world';

/** A scrape that was asked for, as far as the outside knows. */
export interface Scrape {
	id: string;
	/** Whose URL the service notifies. */
	node: TriggerNode;
	/** Empty if somebody else started it. */
	attempt: string;
	createdAt: number;
	finishedAt: number;
	/** The node answered a notification of it with success. */
	isNotified?: boolean;
}

export interface Request {
	url: string;
	headers?: IDataObject;
	query?: IDataObject;
	qs?: IDataObject;
	body: unknown;
	timeout: number;
}

export interface Answer {
	status: number;
	value: object;
}

/** The service, with one account. */
export class Service {
	/** What the account has left. */
	credits = 100;

	constructor(private readonly world: World) {}

	private get scrapes(): Scrape[] {
		return this.world.nodes.flatMap(({ scrapes }) => scrapes);
	}

	/** Answers a request of a node. */
	async serve(
		node: TriggerNode,
		process: Process,
		{ url, qs, body, timeout }: Request,
	): Promise<Answer> {
		const { world } = this;
		if (url.endsWith('/credits')) return success({ credits: this.credits, plan: 'enterprise' });
		if (url.endsWith('/start')) {
			const { webhookUrl } = body as { webhookUrl: string };
			const answer = await world.inTime(this.start(node, process, webhookUrl), timeout);
			node.learn(process, JSON.stringify(answer.value));
			const { data } = answer.value as { data?: { scrapeId: string } };
			if (data) process.started.push({ id: data.scrapeId, workflow: node.workflow });
			return answer;
		}
		const failing = world.is('status') ? world.between(0, 4) : undefined;
		if (failing === 0) throw networkError('ECONNRESET', 'read');
		if (failing === 1) throw networkError('ECONNREFUSED', 'connect');
		const scrape = this.scrapes.find(({ id }) => id === qs?.scrapeId);
		if (failing !== undefined || !scrape) return failure(failing === 2 ? 500 : 404, 'NOT_FOUND');
		const { id: scrapeId, createdAt, finishedAt } = scrape;
		const isOver = finishedAt + (world.is('lag') ? 60_000 : 0) <= world.clock.now;
		const result = /[49]$/.test(scrapeId) ? 'failed' : 'completed';
		return success({
			...{ scrapeId, status: isOver ? result : 'processing' },
			createdAt: new Date(createdAt).toISOString(),
			...(isOver && result === 'completed' && { completedAt: new Date(finishedAt).toISOString() }),
		});
	}

	private async start(node: TriggerNode, process: Process, webhookUrl: string): Promise<Answer> {
		const { world } = this;
		const kind = world.nextStart();
		const query = Object.fromEntries(new URL(webhookUrl).searchParams);
		const attempt = query.attempt ?? '';
		world.note(`start ${attempt} of ${node.id} from ${process.name}: ${kind}`);
		if (kind === 'unconnected') throw networkError('ECONNREFUSED', 'connect');
		if (kind === 'rate') return failure(429, 'RATE_LIMIT_EXCEEDED');
		if (kind === 'refused') return failure(402, 'INSUFFICIENT_CREDITS');
		node.send(process, attempt);
		if (kind === 'notDone') return failure(500, 'BROKEN');
		const { id: scrapeId } = this.addScrape(node, attempt, query);
		if (kind === 'slow') await process.wait(world.between(5000, 150_000));
		if (kind === 'lost') return await never;
		if (kind === 'cut') throw networkError('ECONNRESET', 'read');
		return kind === 'broken' ? failure(500, 'BROKEN') : success({ scrapeId, status: 'pending' });
	}

	/** A scrape begins, and its notifications are sent in time. */
	addScrape(node: TriggerNode, attempt = '', query: IDataObject = {}): Scrape {
		const { world } = this;
		const lasts = world.between(500, world.random() < 0.5 ? 20_000 : 900_000);
		const scrape = this.add(node, attempt, lasts);
		for (let left = world.between(attempt === '' ? 1 : 0, 4); left > 0; left--) {
			const late = world.between(-3000, world.random() < 0.5 ? 10 : 30_000);
			this.notifyLater(lasts + late, scrape, query, world.between(0, 5));
		}
		return scrape;
	}

	/** So many scrapes of somebody else finish now, and the service notifies of each at once. */
	burst(node: TriggerNode, count: number): void {
		for (let left = count; left > 0; left--) this.notifyLater(0, this.add(node, '', 0), {}, 5);
	}

	private add(node: TriggerNode, attempt: string, lasts: number): Scrape {
		const { now } = this.world.clock;
		// None is the beginning of another one.
		const id = `scrape-${String(this.scrapes.length).padStart(4, '0')}`;
		const scrape: Scrape = { id, node, attempt, createdAt: now, finishedAt: now + lasts };
		node.scrapes.push(scrape);
		return scrape;
	}

	private notifyLater(ms: number, scrape: Scrape, query: IDataObject, repeats: number): void {
		const { world } = this;
		const { id: scrapeId, node } = scrape;
		const notify = async () => {
			const target = world.oneOf(world.topology.receivers);
			const leads = [{ name: 'A' }, { name: 'B' }];
			const body = { scrapeId, status: 'completed', leads };
			const answer =
				target && !target.isStopping && world.inTime(node.receive(target, { query, body }), 30_000);
			const status = (await (answer || undefined)?.catch(() => undefined))?.status;
			world.note(`notification of ${scrapeId} at ${String(target?.name)}: ${String(status)}`);
			if (status === 200) scrape.isNotified = true;
			else if (repeats > 0)
				this.notifyLater(world.between(5000, 60_000), scrape, query, repeats - 1);
		};
		world.clock.after(ms, () => void notify());
	}
}

function success(data: object): Answer {
	return { status: 200, value: { success: true, data } };
}

function failure(status: number, code: string): Answer {
	return { status, value: { success: false, error: { code, message: code } } };
}

export function networkError(code: string, syscall: string): Error {
	return Object.assign(new Error(code), { code, syscall });
}
