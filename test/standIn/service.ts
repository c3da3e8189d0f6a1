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
	/** Of the URL that the service notifies, which the node may have signed. */
	query: IDataObject;
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
	/** It says of no scrape how it is. */
	isStatusBroken = false;

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
		if (this.isStatusBroken) return failure(500, 'INTERNAL');
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
		const scrape = this.add(node, attempt, lasts, query);
		for (let left = world.between(attempt === '' ? 1 : 0, 4); left > 0; left--) {
			const late = world.between(-3000, world.random() < 0.5 ? 10 : 30_000);
			this.notifyLater(lasts + late, scrape, world.between(0, 5));
		}
		return scrape;
	}

	/** So many scrapes of somebody else finish now, and the service notifies of each at once. */
	burst(node: TriggerNode, count: number): void {
		for (let left = count; left > 0; left--) this.notifyLater(0, this.add(node, '', 0), 5);
	}

	/** A scrape of somebody else finished so long ago, and the service does not notify of it. */
	finished(node: TriggerNode, msAgo = 0): Scrape {
		const scrape = this.add(node, '', -msAgo);
		scrape.createdAt = scrape.finishedAt - 300_000;
		return scrape;
	}

	private add(node: TriggerNode, attempt: string, lasts: number, query: IDataObject = {}): Scrape {
		const { now } = this.world.clock;
		// None is the beginning of another one.
		const id = `scrape-${String(this.scrapes.length).padStart(4, '0')}`;
		const scrape = { id, node, attempt, createdAt: now, finishedAt: now + lasts, query };
		node.scrapes.push(scrape);
		return scrape;
	}

	private notifyLater(ms: number, scrape: Scrape, repeats: number): void {
		const { world } = this;
		const { id: scrapeId, node, query } = scrape;
		const notify = async () => {
			const target = world.oneOf(world.topology.receivers);
			const leads = [{ name: 'A' }, { name: 'B' }];
			const body = { scrapeId, status: 'completed', leads };
			const answer =
				target && !target.isStopping && world.inTime(node.receive(target, { query, body }), 30_000);
			const status = (await (answer || undefined)?.catch(() => undefined))?.status;
			world.note(`notification of ${scrapeId} at ${String(target?.name)}: ${String(status)}`);
			if (status === 200) scrape.isNotified = true;
			else if (repeats > 0) this.notifyLater(world.between(5000, 60_000), scrape, repeats - 1);
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
