import { get } from './credit/get.operation';
import { enrich } from './email/enrich.operation';
import { findBusiness } from './email/findBusiness.operation';
import { findPersonal } from './email/findPersonal.operation';
import { verify } from './email/verify.operation';
import type { Resource } from './operation';
import { getStatus } from './scrape/getStatus.operation';
import { start } from './scrape/start.operation';
import { startAndWait } from './scrape/startAndWait.operation';
import { wait } from './scrape/wait.operation';

/** Everything that the action node can do. To add an operation, add a file and list it here. */
export const resources: readonly Resource[] = [
	{ value: 'email', name: 'Email', operations: [enrich, findBusiness, findPersonal, verify] },
	{ value: 'scrape', name: 'Scrape', operations: [start, startAndWait, wait, getStatus] },
	{ value: 'credit', name: 'Credit', operations: [get] },
];
