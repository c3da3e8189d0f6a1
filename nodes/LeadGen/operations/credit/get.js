'use strict';
Object.defineProperty(exports, '__esModule', { value: true });
exports.get = void 0;
exports.get = {
	value: 'get',
	name: 'Get Balance',
	action: 'Get the credit balance',
	description: 'Get the remaining credits, the plan and the date on which the credits are reset',
	fields: [],
	async run(_parameters, service) {
		return await service.data({ kind: 'read', path: '/credits' });
	},
};
