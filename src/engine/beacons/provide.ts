// Provides the beacons to a job process; their code is loaded when the first is configured.
import type { JobProcessOffers } from '../exec/job-process.ts';

export const provideBeacons: NonNullable<JobProcessOffers['beacons']> = async (host) =>
  (await import('./process.ts')).createBeaconProcess(host);
