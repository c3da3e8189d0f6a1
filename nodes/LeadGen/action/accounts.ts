import type { ICredentialDataDecryptedObject, IExecuteFunctions } from 'n8n-workflow';
import { readCredential } from '../common/compatibility';
import { throwIfStopped } from '../common/pause';
import { CREDENTIAL_TYPE } from '../service/account';
import type { Service } from '../service/service';

/**
 * The service for each item of a run. n8n resolves an expression in a credential for each item, so each may have another
 * account. To read a credential is slow, so one without an expression is read once.
 */
export class Accounts {
	private readonly services = new Map<string, Service>();
	private readonly first: ReturnType<typeof readCredential>;
	private last: Promise<unknown> = Promise.resolve();

	/** @param begin makes the service of a credential; throws InputError if its base URL or key is invalid */
	constructor(
		private readonly context: IExecuteFunctions,
		private readonly begin: (credential: ICredentialDataDecryptedObject) => Service,
		private readonly signal: AbortSignal,
	) {
		this.first = readCredential(context, CREDENTIAL_TYPE, 0);
	}

	/** The services of the items so far. */
	get all(): Service[] {
		return [...this.services.values()];
	}

	/** @throws any error of n8n, if it cannot read the credential for this item; InputError as `begin` does */
	async of(index: number): Promise<Service> {
		const { credential, mayDiffer } = await this.first;
		return this.serviceOf(await (index > 0 && mayDiffer ? this.read(index) : credential));
	}

	/** One after the other, so that the requests of the first items go out meanwhile. */
	private async read(index: number): Promise<ICredentialDataDecryptedObject> {
		const reading = this.last.then(async () => {
			throwIfStopped(this.signal);
			return await this.context.getCredentials(CREDENTIAL_TYPE, index);
		});
		this.last = reading.catch(() => {});
		return await reading;
	}

	private serviceOf(credential: ICredentialDataDecryptedObject): Service {
		const key = JSON.stringify(credential);
		const service = this.services.get(key) ?? this.begin(credential);
		this.services.set(key, service);
		return service;
	}
}
