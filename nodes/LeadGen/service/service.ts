import type {
	IAllExecuteFunctions,
	ICredentialDataDecryptedObject,
	IDataObject,
} from 'n8n-workflow';
import { folded } from '../common/addresses';
import { withoutData } from './answer';
import type { Bought } from './memory';
import { isResult, Purchases, type ItemCalls } from './purchases';
import { beginRun, type NodeRun, type RunSettings } from './run';
import { Sender } from './sender';
import { isFree, type ServiceRequest } from './types';

/** The service as one run of a node uses it. It makes each call only once, and remembers what was bought. */
export class Service {
	readonly run: NodeRun;
	readonly purchases: Purchases;
	private readonly sender: Sender;
	/** The answers of this run, by the key of the request. */
	private readonly asked = new Map<string, Promise<Bought>>();

	/** @throws InputError if the base URL or the key of the credential is invalid */
	constructor(
		context: IAllExecuteFunctions,
		credential: ICredentialDataDecryptedObject,
		settings: RunSettings,
	) {
		this.run = beginRun(context, credential, settings);
		this.sender = new Sender(this.run);
		this.purchases = new Purchases(this.run, this.sender);
	}

	/**
	 * Makes a call and returns its `data` (docs/service.md, The envelope); `null` if the service returns `null`.
	 * @param item the item that needs it, if any
	 * @throws ServiceError with what is known about the call; NotAttemptedError if the call was not made
	 */
	async call(request: ServiceRequest, item?: ItemCalls): Promise<IDataObject | null> {
		if (request.kind === 'poll') return await this.sender.send(request);
		const key = this.keyOf(request);
		const asked = this.asked.get(key);
		const answer =
			asked ?? (isFree(request) ? this.read(request) : this.purchases.get(request, key, item));
		this.asked.set(key, answer);
		const outcome = await answer;
		if (asked && !isFree(request) && isResult(outcome, request)) this.purchases.saved++;
		if ('error' in outcome) throw outcome.error;
		return JSON.parse(outcome.json) as IDataObject | null;
	}

	/** Like `call`, for operations that have no result without data. */
	async data(request: ServiceRequest, item?: ItemCalls): Promise<IDataObject> {
		const data = await this.call(request, item);
		if (data === null) throw withoutData(request);
		return data;
	}

	/** What a paid call would be, without making it. The next identical call is then a duplicate. */
	foresee(request: ServiceRequest): 'new' | 'duplicate' | 'remembered' {
		const key = this.keyOf(request);
		if (this.asked.has(key)) return 'duplicate';
		this.asked.set(key, Promise.resolve({ json: '' }));
		return this.run.account.memory.recall(key, this.run.settings) ? 'remembered' : 'new';
	}

	private async read(request: ServiceRequest): Promise<Bought> {
		return { json: JSON.stringify(await this.sender.send(request)) };
	}

	/**
	 * Two lookups with the same key have the same answer: the spelling of a value makes no difference. Only its place in its execution
	 * identifies a start, because an expression in its body may return something else when n8n runs it again.
	 */
	private keyOf({ kind, path, query, body, place = '' }: ServiceRequest): string {
		const fields = Object.entries(query ?? body ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
		const content = JSON.stringify(fields);
		const { executionId = '' } = this.run.settings;
		if (kind === 'start') return `start ${executionId} ${place || content}`;
		if (kind === 'read') return `${path} ${content}`;
		return `${path} ${JSON.stringify(fields.map(([name, value]) => [name, folded(value)]))}`;
	}
}
