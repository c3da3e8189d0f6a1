import type {
	IAllExecuteFunctions,
	ICredentialDataDecryptedObject,
	IDataObject,
} from 'n8n-workflow';
import { InputError, NotAttemptedError, type ServiceError } from '../common/errors';
import { anySignal } from '../common/pause';
import { count } from '../common/values';
import { accountOf, apiKeyOf, type Account } from './account';
import type { Run } from './limits/limiter';
import { MAX_UNANSWERED_MS, MINUTE_MS } from './limits/policy';
import type { Buyer } from './memory';
import { isRateRefusal } from './retry';
import type { ServiceRequest } from './types';

/** Why a run sends no more paid calls, or no more calls at all. Calls in flight continue. */
export class StopReason {
	/** Why no more paid calls are sent. The first reason counts. */
	reason: NotAttemptedError | undefined;
	private readonly allStopped = new AbortController();
	/** Aborted when it makes no sense for calls to wait for their turn. */
	readonly signal = this.allStopped.signal;

	/** Tells the user what happens to bought results when the workflow runs again. */
	readonly whenRunAgain: string;

	constructor(rememberMs = 0) {
		this.whenRunAgain =
			rememberMs > 0
				? `If you run the workflow again within ${count(rememberMs / MINUTE_MS, 'minute')}, you do not pay for the same results again.`
				: 'Before you run the workflow again, remove the items that already have a result. Otherwise you pay for them again.';
	}

	/** The service would refuse the remaining paid calls as well. */
	outOfCredits(): void {
		const advice = 'Add credits to the account, or wait until they reset.';
		this.stop('Not sent: the account has too few credits', advice);
	}

	/**
	 * Each of the remaining calls would wait without success.
	 * @param error the last answer
	 * @param backMs in how much time the service accepts calls again, if it said so
	 */
	stopAllCalls(error: ServiceError, backMs: number): void {
		const what = isRateRefusal(error)
			? 'refuses all requests (too many requests)'
			: 'is not available';
		const minutes = Math.ceil(backMs / MINUTE_MS);
		const time = minutes < 120 ? count(minutes, 'minute') : count(Math.ceil(minutes / 60), 'hour');
		const back =
			backMs > MAX_UNANSWERED_MS
				? `The service says that it accepts requests again in ${time}.`
				: 'This has lasted for ten minutes.';
		this.stop(`Not sent: the service ${what}`, `${back} Try again later.`);
		this.allStopped.abort(this.reason);
	}

	private stop(message: string, advice: string): void {
		this.reason ??= new NotAttemptedError(message, `${advice} ${this.whenRunAgain}`);
	}
}

/** How a run of a node makes its calls. */
export interface RunSettings extends Buyer {
	/** How long to wait for the whole answer to one request. */
	timeoutMs: number;
	/** The maximum number of calls in flight; 0 sets none. */
	parallel?: number;
	/**
	 * Called for each scrape: with the answer, or without one if the scrape may have been started.
	 * @param isNew false if it was started before n8n ran the node again
	 */
	onStart?: (request: ServiceRequest, answer: IDataObject | undefined, isNew: boolean) => void;
	signal?: AbortSignal;
}

/** One run of a node, with all that its calls need. */
export interface NodeRun extends Run {
	context: IAllExecuteFunctions;
	credential: ICredentialDataDecryptedObject;
	settings: RunSettings;
	account: Account;
	stopReason: StopReason;
	/** Aborted when the user presses Stop, or the run makes no more calls. */
	signal: AbortSignal;
}

/** @throws InputError if the base URL or the key of the credential is invalid or missing */
export function beginRun(
	context: IAllExecuteFunctions,
	credential: ICredentialDataDecryptedObject,
	settings: RunSettings,
): NodeRun {
	if (apiKeyOf(credential) === '') {
		throw new InputError(
			'API Key',
			'in the LeadGen credential is empty',
			'Open the LeadGen credential and enter the API key of your account. If it holds an expression, check the field that it reads.',
		);
	}
	const stopReason = new StopReason(settings.rememberMs);
	return {
		context,
		credential,
		settings,
		account: accountOf(credential),
		stopReason,
		inFlight: 0,
		waitedMs: 0,
		signal: anySignal(stopReason.signal, settings.signal),
	};
}
