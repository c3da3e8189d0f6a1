import { randomUUID } from 'crypto';

/** Identifies this process of n8n while it runs. */
export const PROCESS = randomUUID();
/** When this process started, in milliseconds since 1970. */
export const PROCESS_SINCE = Date.now();
