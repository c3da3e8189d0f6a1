import { randomUUID } from 'crypto';

/** Names this process of n8n, as long as it runs. */
export const PROCESS = randomUUID();
/** Since when, in milliseconds since 1970. */
export const PROCESS_SINCE = Date.now();
