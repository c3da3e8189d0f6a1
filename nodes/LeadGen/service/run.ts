import type {
	IAllExecuteFunctions,
	ICredentialDataDecryptedObject,
	IDataObject,
} from 'n8n-workflow';
import {
	InputError,
	NotAttemptedError,
	type LeadGenError,
	type ServiceError,
} from '../common/errors';
import { anySignal } from '../common/pause';
import { count } from '../common/values';
import { accountOf, apiKeyOf, baseUrlOf, type Account } from './account';
import type { Run } from './limits/limiter';
import { GIVE_UP_MS } from './limits/policy';
import type { Buyer } from './memory';
import { isRateRefusal } from './retry';
import { keyRemover } from './texts';
import type { ServiceRequest } from './types';

/** Why a run sends no more paid calls, or no more calls at all. Calls in flight continue. */
export class StopReason {
	/** Why no more paid calls are sent. */
	reason: LeadGenError | undefined;
	private readonly allStopped = new AbortController();
	/** Aborted when it makes no sense for calls to wait for their turn. */
	readonly signal = this.allStopped.signal;

	/** @param whenRunAgain text for the user: what happens to bought results when the workflow runs again */
	constructor(readonly whenRunAgain: string) {}

	/** Stops all paid calls from now on. The first reason counts. */
	stopPaidCalls(reason: LeadGenError): void {
		this.reason ??= reason;
	}

	/** The service would refuse the remaining calls as well. */
	outOfCredits(): void {
		const advice = `Add credits to the account, or wait until they reset. ${this.whenRunAgain}`;
		const message = 'Not sent: the account has too few credits';
		this.stopPaidCalls(new NotAttemptedError(message, advice));
	}

	/**
	 * Each of the remaining calls would wait without success.
	 * @param error the last answer
	 * @param backMs in how much time the service accepts calls again, if it said so
	 */
	stopAllCalls(error: ServiceError, backMs = 0): void {
		const [why, cause] = isRateRefusal(error)
			? [
					'refuses all requests (too many requests)',
					' Something else may use up the rate limit of the account, or the account has a limit per day.',
				]
			: ['is not available', ''];
		const back =
			backMs > GIVE_UP_MS
				? `The service says that it accepts requests again in ${duration(backMs)}.`
				: 'This has lasted for ten minutes.';
		const advice = `${back}${cause} Try again later. ${this.whenRunAgain}`;
		this.stopPaidCalls(new NotAttemptedError(`Not sent: the service ${why}`, advice));
		this.allStopped.abort(this.reason);
	}
}

function duration(ms: number): string {
	const minutes = Math.ceil(ms / 60_000);
	return minutes < 120 ? count(minutes, 'minute') : count(Math.ceil(minutes / 60), 'hour');
}

/** How a run of a node makes its calls. */
export interface RunSettings extends Buyer {
	/** How long to wait for the whole answer to one request. */
	timeoutMs: number;
	/** The maximum number of calls in flight; 0 finds a good number. */
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
	/** As from `baseUrlOf`. */
	baseUrl: string;
	/** Removes the key of the credential from a text. */
	withoutKey: (text: string) => string;
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
	const { parallel = 0, rememberMs = 0, signal } = settings;
	const stopReason = new StopReason(whenRunAgain(rememberMs / 60_000));
	return {
		context,
		credential,
		baseUrl: baseUrlOf(credential),
		withoutKey: keyRemover(apiKeyOf(credential)),
		settings,
		account: accountOf(credential),
		stopReason,
		inFlight: 0,
		waitedMs: 0,
		cap: parallel || Infinity,
		signal: anySignal(stopReason.signal, signal),
	};
}

/** Text for the user: what happens to bought results when the workflow runs again. */
function whenRunAgain(minutes: number): string {
	return minutes > 0
		? `If you run the workflow again within ${count(minutes, 'minute')}, you do not pay for the same results again.`
		: 'Before you run the workflow again, remove the items that already have a result. Otherwise you pay for them again.';
}
