// Pillars: compiled for a master in worker threads, for a lone minion in its own process.
export { PillarCache, type PillarCacheOptions } from './cache.ts';
export { type CompileOptions, compilePillar } from './compile.ts';
export { explainPillar } from './explain.ts';
export { compilePillarLocally, type LocalPillarOptions } from './local.ts';
export { PillarPool, type PillarPoolOptions } from './pool.ts';
export { createProcessHost, type ProcessHost } from './process-host.ts';
export { failedPillar, PillarService, type PillarServiceOptions } from './service.ts';
export type { PillarHost, PillarRequest, TopData } from './types.ts';
