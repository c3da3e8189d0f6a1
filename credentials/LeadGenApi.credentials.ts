import type {
	ICredentialDataDecryptedObject,
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
			displayOptions: { show: { plan: ['enterprise'] } },
			description:
				'The limit that you agreed with the service. 0 means no limit of your own: the nodes learn it.',
		},
	];

	/**
	 * Adds the key as a Bearer token (docs/service.md, Addresses and key). Other nodes use the credential as well, also
	 * for users who may not see it. So no other origin than that of the base URL gets the key, and no redirect is
	 * followed.
	 *
	 * A property, because n8n copies a credential type with a spread, which leaves out methods. Without it, the HTTP
	 * Request node does not offer the credential.
	 */
	authenticate = async (credentials: ICredentialDataDecryptedObject, request: KeyedRequest) => {
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
	};
}
