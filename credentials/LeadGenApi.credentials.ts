import type {
	ICredentialDataDecryptedObject,
	ICredentialTestRequest,
	ICredentialType,
	IHttpRequestOptions,
	INodeProperties,
} from 'n8n-workflow';

/** Account of the lead-generation service: address, API key and the rate limit to keep. */
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
				'Address of the service, as its documentation or your account dashboard gives it',
		},
		{
			displayName: 'API Key',
			name: 'apiKey',
			type: 'string',
			typeOptions: { password: true },
			default: '',
			required: true,
			description: 'The key from your account dashboard. It is sent to the base URL only.',
		},
		{
			displayName: 'Plan',
			name: 'plan',
			type: 'options',
			options: [
				{ name: 'Detect Automatically', value: 'auto' },
				{ name: 'Enterprise (Custom Limit)', value: 'enterprise' },
				{ name: 'Pro (300 Requests per Minute)', value: 'pro' },
				{ name: 'Starter (60 Requests per Minute)', value: 'starter' },
			],
			default: 'auto',
			description: 'The plan sets how many requests per minute the nodes make at most',
		},
		{
			displayName: 'Requests per Minute',
			name: 'requestsPerMinute',
			type: 'number',
			typeOptions: { minValue: 0 },
			default: 0,
			displayOptions: { show: { plan: ['auto', 'enterprise'] } },
			description:
				'Your limit, if your plan has one of its own (Enterprise). 0 means that it is learned from the answers of the service.',
		},
	];

	/**
	 * Adds the key as a Bearer token (interface 5.1). A function rather than an expression, because it
	 * runs once per request, and so that a key pasted with a line break at its end still works.
	 */
	async authenticate(
		credentials: ICredentialDataDecryptedObject,
		request: IHttpRequestOptions,
	): Promise<IHttpRequestOptions> {
		const apiKey = typeof credentials.apiKey === 'string' ? credentials.apiKey.trim() : '';
		request.headers = { ...request.headers, Authorization: `Bearer ${apiKey}` };
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
					message: 'There is no such service at this address: check the base URL',
				},
			},
			{
				// Interface 7: an error envelope counts as an error whatever the HTTP status is.
				type: 'responseSuccessBody',
				properties: {
					key: 'success',
					value: false,
					message: 'The service did not accept this API key, or the account cannot be used',
				},
			},
			{
				// A web page or another service's answer has no `data.credits`.
				type: 'responseSuccessBody',
				properties: {
					key: 'data.credits',
					value: undefined,
					message: 'This address does not answer as the service does: check the base URL',
				},
			},
		] as ICredentialTestRequest['rules'],
	};
}
