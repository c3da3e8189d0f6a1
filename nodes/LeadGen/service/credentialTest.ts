import type {
	ICredentialDataDecryptedObject,
	ICredentialsDecrypted,
	ICredentialTestFunctions,
	INodeCredentialTestResult,
} from 'n8n-workflow';
import { InputError, type ServiceError } from '../common/errors';
import { apiKeyOf, baseUrlOf } from './credential';
import { meaningOf, readEnvelope, type Answer } from './answer';
import { BALANCE } from './request';
import { noAnswer, withoutKey } from './wire';

const WRONG_KEY =
	'The service does not accept this API key. Copy it again, and check that your account is active.';
const WRONG_ADDRESS = 'The LeadGen service is not at this address. Check the base URL.';
const IN_DOCKER =
	'If n8n runs in Docker, localhost is its container: enter host.docker.internal instead.';
const TIMEOUT_MS = 30_000;

/**
 * Tests the credential by reading the balance, which is free (docs/service.md, Operations). A test by n8n itself shows
 * a bare code such as ECONNREFUSED where no answer comes.
 */
export async function leadGenApiTest(
	this: ICredentialTestFunctions,
	{ data = {} }: ICredentialsDecrypted,
): Promise<INodeCredentialTestResult> {
	const problem = await problemOf(this, data);
	if (problem === undefined) return { status: 'OK', message: 'Connection successful!' };
	return { status: 'Error', message: problem };
}

/** What is wrong, and what to do, for a person who fills in the form. */
async function problemOf(
	{ helpers }: ICredentialTestFunctions,
	credential: ICredentialDataDecryptedObject,
): Promise<string | undefined> {
	let answer: Answer<ServiceError>;
	try {
		const [uri, key] = [baseUrlOf(credential) + BALANCE.path, apiKeyOf(credential)];
		// The only helper for requests that n8n gives to a credential test.
		const given: unknown = await helpers.request({
			...{ uri, headers: { Accept: 'application/json', Authorization: `Bearer ${key}` } },
			...{
				followRedirect: false,
				simple: false,
				resolveWithFullResponse: true,
				timeout: TIMEOUT_MS,
			},
		});
		answer = readEnvelope(withoutKey(given, key), BALANCE);
	} catch (error) {
		if (error instanceof InputError) return error.message;
		answer = { error: noAnswer(error, BALANCE) };
	}
	if ('data' in answer) return answer.data?.credits === undefined ? WRONG_ADDRESS : undefined;
	const { error } = answer;
	const meaning = meaningOf(error);
	if (meaning === 'UNAUTHORIZED') return WRONG_KEY;
	const { code, httpStatus = 0 } = error;
	const isForeign = code === undefined && [200, 404].includes(httpStatus);
	if (meaning === 'NOT_FOUND' || isForeign) return WRONG_ADDRESS;
	const isHere = /\/\/(localhost|127\.|\[::1\])/i.test(baseUrlOf(credential));
	const hint = isHere && error.outcome === 'notSent' ? ` ${IN_DOCKER}` : '';
	return `${error.message}. ${error.advice}${hint}`;
}
