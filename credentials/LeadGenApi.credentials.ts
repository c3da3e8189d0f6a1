import type {
	ICredentialDataDecryptedObject,
	ICredentialTestRequest,
	ICredentialType,
	IHttpRequestOptions,
	INodeProperties,
} from 'n8n-workflow';
import { apiKeyOf, baseUrlOf } from '../nodes/LeadGen/service/account';
import { LeadGenError } from '../nodes/LeadGen/common/errors';

/**
 * A request as n8n passes it on: in the form of its HTTP helper, with `url`, or in the form of the old library
 * `request`, with `uri` and other names for following redirects. n8n's HTTP Request node still uses the old form.
 */
interface KeyedRequest extends IHttpRequestOptions {
	uri?: string | URL;
	followRedirect?: boolean;
	followAllRedirects?: boolean;
}

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
			description:
				'The address from the documentation of the service. In the test, ENOTFOUND means that this host does not exist, and ECONNREFUSED that no server answers there.',
		},
		{
			displayName: 'API Key',
			name: 'apiKey',
			type: 'string',
			typeOptions: { password: true },
			default: '',
			required: true,
			description:
				'The key from your account dashboard. n8n sends it to the host of the base URL only.',
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
			description:
				'The plan of your account. It limits how many requests the nodes make per minute. To enter a limit yourself, choose Enterprise.',
		},
		{
			displayName: 'Requests per Minute',
			name: 'requestsPerMinute',
			type: 'number',
			typeOptions: { minValue: 0 },
			default: 0,
			displayOptions: { show: { plan: ['enterprise'] } },
			hint: 'With 0, the nodes learn the limit from the answers of the service',
			description: 'The limit of your account',
		},
		{
			// While the plan is detected, a limit that was entered before still counts if the plan has none.
			displayName: 'Requests per Minute',
			name: 'requestsPerMinute',
			type: 'hidden',
			default: 0,
			displayOptions: { show: { plan: ['auto'] } },
		},
	];

	/**
	 * Adds the key as a Bearer token (docs/service.md, Addresses and key). Other nodes, such as HTTP Request, also use
	 * the credential, also for users who may not see it. So this is the one place that keeps the key from going
	 * elsewhere: a request to another origin than that of the base URL is refused, and redirects are not followed.
	 *
	 * This is a function rather than an expression for that reason, and so that a key that was pasted with a line break
	 * at its end still works.
	 * @throws LeadGenError if the request goes elsewhere; InputError if the base URL or the key is invalid
	 */
	async authenticate(
		credentials: ICredentialDataDecryptedObject,
		request: KeyedRequest,
	): Promise<KeyedRequest> {
		const { origin } = new URL(baseUrlOf(credentials));
		const elsewhere = originsOf(request).find((target) => target !== origin);
		if (elsewhere !== undefined) {
			throw new LeadGenError(
				`This credential only sends its API key to ${origin}, but this request goes to ${elsewhere}`,
				'Use a URL that begins with the base URL of the LeadGen credential.',
			);
		}
		request.headers = { ...request.headers, Authorization: `Bearer ${apiKeyOf(credentials)}` };
		request.disableFollowRedirect = true;
		request.followRedirect = false;
		request.followAllRedirects = false;
		return await Promise.resolve(request);
	}

	test: ICredentialTestRequest = {
		request: {
			baseURL: '={{ $credentials.baseUrl.trim().replace(/\\/+$/, "") }}',
			url: '/credits',
			disableFollowRedirect: true,
		},
		rules: [
			{
				type: 'responseCode',
				properties: {
					value: 401,
					message:
						'The service does not accept this API key. Copy it again from your account dashboard.',
				},
			},
			{
				type: 'responseCode',
				properties: {
					value: 404,
					message: 'The service is not at this address. Check the base URL.',
				},
			},
			{
				// An error envelope counts as an error, whatever the HTTP status (docs/service.md, The envelope).
				type: 'responseSuccessBody',
				properties: {
					key: 'success',
					value: false,
					message:
						'The service does not accept this API key or account. Check the key, and check in your dashboard that the account is active.',
				},
			},
			{
				// A web page or an answer of another service has no `data.credits`.
				type: 'responseSuccessBody',
				properties: {
					key: 'data.credits',
					value: undefined,
					message: 'The server at this address is not the LeadGen service. Check the base URL.',
				},
			},
		] as ICredentialTestRequest['rules'],
	};
}
