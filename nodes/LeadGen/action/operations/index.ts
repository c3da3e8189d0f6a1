import { get } from './credit/get';
import { enrich } from './email/enrich';
import { findBusiness } from './email/findBusiness';
import { findPersonal } from './email/findPersonal';
import { verify } from './email/verify';
import type { Resource } from './operation';
import { getStatus } from './scrape/getStatus';
import { start } from './scrape/start';
import { startAndWait } from './scrape/startAndWait';
import { wait } from './scrape/wait';

/** Everything that the action node can do. To add an operation, add a file and list it here. */
export const resources: readonly Resource[] = [
	{ value: 'email', name: 'Email', operations: [enrich, findBusiness, findPersonal, verify] },
	{ value: 'scrape', name: 'Scrape', operations: [getStatus, start, startAndWait, wait] },
	{ value: 'credit', name: 'Credit', operations: [get] },
];
