import type {
	IAllExecuteFunctions,
	ICredentialDataDecryptedObject,
	IDataObject,
} from 'n8n-workflow';
import { count } from '../common/count';
import { InputError } from '../common/errors';
import { anySignal } from '../common/pause';
import { accountOf, type Account } from './account';
import { Halting } from './halting';
import { apiKeyOf, baseUrlOf, type Sending } from './http';
import type { Run } from './limits/limiter';
import { keyRemover } from './texts';
import type { ServiceRequest } from './types';

/** How a run of a node makes its calls. */
export interface RunSettings {
	/** The maximum number of calls in flight; 0 finds a good number. */
	parallel?: number;
	/** How long results that other executions bought count. */
	rememberMs?: number;
	/** The execution that owns the results that it buys, also when n8n runs the node again. MCP has no executions. */
	executionId?: string;
	/** The run of the node in its execution. It stays the same when n8n runs the node again. */
	payer?: string;
	/**
	 * Called for each scrape: with the answer, or without one if the scrape may have been started.
	 * @param isNew false if it was started before n8n ran the node again
	 */
	onStart?: (request: ServiceRequest, answer: IDataObject | undefined, isNew: boolean) => void;
	signal?: AbortSignal;
}

/** One run of a node, with all that its calls need. */
export interface NodeRun extends Run, Sending {
	settings: RunSettings;
	account: Account;
	halting: Halting;
}

/** @throws InputError if the base URL or the key of the credential is invalid or missing */
export function beginRun(
	context: IAllExecuteFunctions,
	credential: ICredentialDataDecryptedObject,
	timeoutMs: number,
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
	const halting = new Halting(whenRunAgain(rememberMs / 60_000));
	return {
		context,
		credential,
		baseUrl: baseUrlOf(credential),
		withoutKey: keyRemover(apiKeyOf(credential)),
		timeoutMs,
		settings,
		account: accountOf(credential),
		halting,
		inFlight: 0,
		waitedMs: 0,
		cap: parallel || Infinity,
		signal: anySignal(halting.signal, signal),
	};
}

/** Text for the user: what happens to bought results when the workflow runs again. */
function whenRunAgain(minutes: number): string {
	return minutes > 0
		? `If you run the workflow again within ${count(minutes, 'minute')}, you do not pay for the same results again.`
		: 'Before you run the workflow again, remove the items that already have a result. Otherwise you pay for them again.';
}
