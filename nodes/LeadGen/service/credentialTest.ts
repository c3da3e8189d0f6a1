import type {
	ICredentialDataDecryptedObject,
	ICredentialsDecrypted,
	ICredentialTestFunctions,
	IDataObject,
	INodeCredentialTestResult,
} from 'n8n-workflow';
import { ServiceError } from '../common/errors';
import { apiKeyOf, baseUrlOf, withoutKey } from './credential';
import { meaningOf, readEnvelope } from './answer';
import { BALANCE } from './request';
import { noAnswer } from './wire';

const WRONG_KEY =
	'The service does not accept this API key. Copy it again, and check that your account is active.';
const WRONG_ADDRESS = 'The LeadGen service is not at this address. Check the base URL.';
const IN_DOCKER =
	'If n8n runs in Docker, localhost is its container: enter host.docker.internal instead.';
const TIMEOUT_MS = 30_000;

/**
 * Tests the credential by reading the balance, which is free (docs/service.md, Operations). A test by n8n itself shows a
 * bare code such as ECONNREFUSED where no answer comes.
 */
export async function leadGenApiTest(
	this: ICredentialTestFunctions,
	{ data = {} }: ICredentialsDecrypted,
): Promise<INodeCredentialTestResult> {
	try {
		const { credits } = (await readBalance(this, data)) ?? {};
		if (credits !== undefined) return { status: 'OK', message: 'Connection successful!' };
		return { status: 'Error', message: WRONG_ADDRESS };
	} catch (error) {
		return { status: 'Error', message: inForm(error, data) };
	}
}

/**
 * @returns undefined for the answer of another service
 * @throws InputError for a wrong field, ServiceError for a failure
 */
async function readBalance(
	{ helpers }: ICredentialTestFunctions,
	credential: ICredentialDataDecryptedObject,
): Promise<IDataObject | null | undefined> {
	const [uri, key] = [baseUrlOf(credential) + BALANCE.path, apiKeyOf(credential)];
	const request = {
		...{ uri, headers: { Accept: 'application/json', Authorization: `Bearer ${key}` } },
		...{ followRedirect: false, simple: false, resolveWithFullResponse: true, timeout: TIMEOUT_MS },
	};
	// The only helper for requests that n8n gives to a credential test.
	const { statusCode, headers, body } = (await helpers.request(request).catch((error: unknown) => {
		throw noAnswer(error, BALANCE);
	})) as { statusCode: number; headers: Record<string, unknown>; body: unknown };
	const text = typeof body === 'string' ? body : JSON.stringify(body ?? '');
	const answer = readEnvelope(
		{ status: statusCode, headers, text: withoutKey(text, key) },
		BALANCE,
	);
	if ('data' in answer) return answer.data;
	if (answer.error.code === undefined && [200, 404].includes(statusCode)) return undefined;
	throw answer.error;
}

/** What is wrong, and what to do, for a person who fills in the form. */
function inForm(error: unknown, { baseUrl }: ICredentialDataDecryptedObject): string {
	if (!(error instanceof ServiceError))
		return error instanceof Error ? error.message : String(error);
	const meaning = meaningOf(error);
	if (meaning === 'UNAUTHORIZED') return WRONG_KEY;
	if (meaning === 'NOT_FOUND') return WRONG_ADDRESS;
	const isHere = typeof baseUrl === 'string' && /\/\/(localhost|127\.|\[::1\])/i.test(baseUrl);
	const hint = isHere && error.outcome === 'notSent' ? ` ${IN_DOCKER}` : '';
	return `${error.message}. ${error.advice}${hint}`;
}
