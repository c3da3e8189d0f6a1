import type {
	IAllExecuteFunctions,
	ICredentialDataDecryptedObject,
	IDataObject,
} from 'n8n-workflow';
import { readEnvelope, withoutData } from './envelope';
import { CREDENTIAL_TYPE, exchange } from './http';
import type { ServiceRequest } from './types';

/** The service, as one account sees it. */
export class Service {
	private constructor(
		private readonly context: IAllExecuteFunctions,
		private readonly credential: ICredentialDataDecryptedObject,
		private readonly timeoutMs: number,
	) {}

	/**
	 * Reads the credential of the node once, for all calls of a run.
	 * @param timeoutMs how long to wait for the answer to one request
	 */
	static async connect(context: IAllExecuteFunctions, timeoutMs: number): Promise<Service> {
		return new Service(context, await context.getCredentials(CREDENTIAL_TYPE), timeoutMs);
	}

	/**
	 * Makes a call and gives its `data` (interface 2.1), `null` where the service says `null`.
	 * @throws ServiceError with what is known of the call
	 */
	async call(request: ServiceRequest): Promise<IDataObject | null> {
		const response = await exchange(this.context, this.credential, request, this.timeoutMs);
		return readEnvelope(response, request);
	}

	/** Like `call`, for operations that have nothing to say without data. */
	async data(request: ServiceRequest): Promise<IDataObject> {
		const data = await this.call(request);
		if (data === null) throw withoutData(request);
		return data;
	}
}
