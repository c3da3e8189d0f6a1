import fc from 'fast-check';

/** Random tests repeat the same cases, so that a red check is due to the change. Nightly runs set others. */
fc.configureGlobal({ seed: Number(process.env.FAST_CHECK_SEED ?? 1) });
/** What n8n and the nodes log is no part of the report. */
process.env.N8N_LOG_LEVEL = 'silent';
