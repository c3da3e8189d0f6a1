import fc from 'fast-check';

/** Random tests repeat the same cases, so that a red check is due to the change. Nightly runs set others. */
fc.configureGlobal({ seed: Number(process.env.FAST_CHECK_SEED ?? 1) });
