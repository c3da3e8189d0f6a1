import { BALANCE } from '../../../service/request';
import type { Operation } from '../operation';

export const get: Operation = {
	value: 'get',
	name: 'Get Balance',
	action: 'Get credit balance',
	description: 'Get the remaining credits, the plan, and the date on which the credits reset',
	fields: [],
	output: { credits: 4200, plan: 'pro', resetDate: '2026-12-01T00:00:00.000Z' },
	prepare: () => ({ request: BALANCE }),
};
