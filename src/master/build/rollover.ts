// Builds what changes the key of the master, and lets its times come.
import type { Logger } from '../../base/log/index.ts';
import type { RolloverServices } from '../../extend/sdk/index.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { Publisher } from '../publish/publisher.ts';
import { RolloverReport } from '../rollover/report.ts';
import { followTimes, rolloverServices } from '../rollover/services.ts';
import type { Trust } from './trust.ts';

export interface RolloverBuildParts {
  readonly trust: Trust;
  readonly fleet: Fleet;
  readonly publisher: Pick<Publisher, 'divide'>;
  readonly log: Logger;
  /** Planned steps are taken by the master that leads. */
  leads(): boolean;
}

export interface BuiltRollover {
  readonly services: RolloverServices;
  stop(): void;
}

export function buildRollover({ trust, fleet, publisher, log, leads }: RolloverBuildParts): BuiltRollover {
  const { rollover, signatures, keys, secrets } = trust;
  const report = new RolloverReport({ rollover, keys, fleet, signatures });
  publisher.divide(() => report.audiences());
  const parts = { rollover, report, signatures: trust.sharedSignatures ?? signatures, ring: secrets.ring, log, leads };
  const services = rolloverServices(parts);
  return { services, stop: followTimes(parts, services) };
}
