'use strict';
Object.defineProperty(exports, '__esModule', { value: true });
exports.resources = void 0;
const get_1 = require('./credit/get');
const findBusiness_1 = require('./email/findBusiness');
const findPersonal_1 = require('./email/findPersonal');
const verify_1 = require('./email/verify');
const getStatus_1 = require('./scrape/getStatus');
const start_1 = require('./scrape/start');
const startAndWait_1 = require('./scrape/startAndWait');
const wait_1 = require('./scrape/wait');
/** Everything that the action node can do. A new operation is a file of its own and a name here. */
exports.resources = [
	{ value: 'credit', name: 'Credit', operations: [get_1.get] },
	{
		value: 'email',
		name: 'Email',
		operations: [findBusiness_1.findBusiness, findPersonal_1.findPersonal, verify_1.verify],
	},
	{
		value: 'scrape',
		name: 'Scrape',
		operations: [getStatus_1.getStatus, start_1.start, startAndWait_1.startAndWait, wait_1.wait],
	},
];
