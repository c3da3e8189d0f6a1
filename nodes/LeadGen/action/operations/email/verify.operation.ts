import { wordIn } from '../../../common/json';
import type { ServiceRequest } from '../../../service/request';
import type { Operation } from '../operation';
import { email } from './fields';

export const verify: Operation = {
	value: 'verify',
	name: 'Verify',
	action: 'Verify email address',
	description:
		'Check whether an email address accepts mail. The status is valid, invalid, catch_all or unknown.',
	paid: 'lookup',
	fields: [email],
	output: {
		email: 'ada.okafor@acme.example',
		status: 'valid',
		deliverable: true,
		disposable: false,
		freeProvider: false,
		paidCalls: 1,
	},
	split: {
		outputs: ['Valid', 'Risky', 'Invalid'],
		outputOf: (result) => {
			const status = wordIn(result?.status);
			return status === 'valid' ? 'Valid' : status === 'invalid' ? 'Invalid' : 'Risky';
		},
	},
	prepare: (parameters) => ({ request: verifyRequest(parameters.get(email)) }),
};

/** The request that verifies an address (docs/service.md, Operations). */
export function verifyRequest(address: string): ServiceRequest {
	return {
		kind: 'lookup',
		noun: 'verification',
		path: '/email/verify',
		body: { email: address },
		needsData: true,
	};
}
