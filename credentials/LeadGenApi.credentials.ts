import type {
	ICredentialDataDecryptedObject,
	ICredentialTestRequest,
	ICredentialType,
	IHttpRequestOptions,
	INodeProperties,
} from 'n8n-workflow';
import { apiKeyOf, baseUrlOf } from '../nodes/LeadGen/service/credential';
import { LeadGenError } from '../nodes/LeadGen/common/errors';

/** A request of n8n's HTTP helper, or with `uri` in the form of the old library, as the HTTP Request node makes it. */
type KeyedRequest = IHttpRequestOptions & { uri?: string | URL };

/** If a request names two addresses, both count, because versions of n8n differ in which they use. */
function originsOf({ uri, url, baseURL }: Partial<KeyedRequest>): string[] {
	return [uri ?? url ?? '', url ?? uri ?? ''].map((target) =>
		URL.canParse(String(target), baseURL) ? new URL(target, baseURL).origin : 'an unknown address',
	);
}

const WRONG_KEY =
	'The service does not accept this API key. Copy it again, and check that your account is active.';
const WRONG_ADDRESS = 'The LeadGen service is not at this address. Check the base URL.';

const inBody = { type: 'responseSuccessBody' };

/** The account of the lead-generation service: address, API key and rate limit. */
export class LeadGenApi implements ICredentialType {
	name = 'leadGenApi';

	displayName = 'LeadGen API';

	icon = {
		light: 'file:../nodes/LeadGen/leadgen.svg',
		dark: 'file:../nodes/LeadGen/leadgen.dark.svg',
	} as const;

	documentationUrl = 'https://github.com/n8n-nodes-leadgen/n8n-nodes-leadgen#credential';

	properties: INodeProperties[] = [
		{
			displayName: 'Base URL',
			name: 'baseUrl',
			type: 'string',
			default: '',
			required: true,
			placeholder: 'e.g. https://api.example.com/v1',
			description: 'The address from the documentation of the service',
		},
		{
			displayName: 'API Key',
			name: 'apiKey',
			type: 'string',
			typeOptions: { password: true },
			default: '',
			required: true,
			description: 'From your account dashboard. n8n sends it to the host of the base URL only.',
		},
		{
			displayName: 'Plan',
			name: 'plan',
			type: 'options',
			options: [
				{ name: 'Detect Automatically', value: 'auto' },
				{ name: 'Starter (60 Requests per Minute)', value: 'starter' },
				{ name: 'Pro (300 Requests per Minute)', value: 'pro' },
				{ name: 'Enterprise (Custom Limit)', value: 'enterprise' },
			],
			default: 'auto',
			description: 'Limits how many requests the nodes make per minute',
		},
		{
			displayName: 'Requests per Minute',
			name: 'requestsPerMinute',
			type: 'number',
			typeOptions: { minValue: 0 },
			default: 0,
			displayOptions: { show: { plan: ['auto', 'enterprise'] } },
			description: 'Used if the plan has no published limit. With 0, the nodes learn the limit.',
		},
	];

	/**
	 * Adds the key as a Bearer token (docs/service.md, Addresses and key). Other nodes use the credential as well, also for
	 * users who may not see it. So no other origin than that of the base URL gets the key, and no redirect is followed.
	 */
	async authenticate(credentials: ICredentialDataDecryptedObject, request: KeyedRequest) {
		const { origin } = new URL(baseUrlOf(credentials));
		const elsewhere = originsOf(request).find((target) => target !== origin);
		if (elsewhere !== undefined) {
			throw new LeadGenError(
				`This credential only sends its API key to ${origin}, but this request goes to ${elsewhere}`,
				'Use a URL that begins with the base URL of the LeadGen credential.',
			);
		}
		return await Promise.resolve({
			...request,
			headers: { ...request.headers, Authorization: `Bearer ${apiKeyOf(credentials)}` },
			...{ disableFollowRedirect: true, followRedirect: false, followAllRedirects: false },
		});
	}

	test: ICredentialTestRequest = {
		request: {
			baseURL: '={{ $credentials.baseUrl.trim().replace(/\\/+$/, "") }}',
			url: '/credits',
			disableFollowRedirect: true,
		},
		rules: [
			{ type: 'responseCode', properties: { value: 401, message: WRONG_KEY } },
			{ type: 'responseCode', properties: { value: 404, message: WRONG_ADDRESS } },
			// An error envelope counts as an error, whatever the HTTP status (docs/service.md, The envelope).
			{ ...inBody, properties: { key: 'success', value: false, message: WRONG_KEY } },
			// A web page or an answer of another service has no `data.credits`.
			{ ...inBody, properties: { key: 'data.credits', value: undefined, message: WRONG_ADDRESS } },
		] as ICredentialTestRequest['rules'],
	};
}
