// Provides engines to a job process; their code is loaded when one is started.
import type { JobProcessOffers } from '../exec/job-process.ts';

export const provideEngine: NonNullable<JobProcessOffers['engine']> = async (host) =>
  (await import('./process.ts')).createEngineProcess(host);
