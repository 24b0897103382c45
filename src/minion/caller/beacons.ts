// Beacons for salt-call: changes are written to the minion's file, which a running daemon watches.

import type { Dict, PlainDict } from '../../base/codec/value.ts';
import type { MinionOpts } from '../../base/config/index.ts';
import { fileVersion } from '../../base/config/saved-section.ts';
import {
  answerBeacons,
  availableBeacons,
  Beacons,
  prepareBeacon,
  readSavedBeacons,
  savedBeaconsPath,
  writeSavedBeacons,
} from '../../engine/beacons/index.ts';
import { beaconContext } from '../../engine/beacons/process.ts';
import type { Runtime } from '../../engine/exec/index.ts';
import { configuredBeacons, validity } from '../services/beacons.ts';

export interface CallerBeaconParts {
  readonly opts: MinionOpts;
  readonly pillar: () => Dict;
  readonly runtime: () => Runtime;
}

/** Answers requests about beacons without the daemon. */
export async function openFileBeacons(parts: CallerBeaconParts): Promise<(request: PlainDict) => Promise<PlainDict>> {
  const { opts, pillar, runtime } = parts;
  const path = savedBeaconsPath(opts.raw);
  // The file takes precedence, because it may be newer than what was read at start.
  const known = (await fileVersion(path)) !== '';
  const own = known ? await readSavedBeacons(path) : configuredBeacons(opts);
  const save = async (beacons: PlainDict): Promise<string> => {
    await writeSavedBeacons(path, beacons);
    return path;
  };
  const signal = new AbortController().signal;
  const beacons: Beacons = new Beacons(own, {
    ...{ pillar, save },
    changed: async () => void (await save(beacons.ofOpts())),
    available: () => availableBeacons(runtime().loader),
    validate: async (name, config) => {
      const ready = await prepareBeacon(runtime().loader, name, config, (of) => beaconContext(runtime, of, signal));
      return validity('problem' in ready ? ready.problem : undefined);
    },
  });
  return (request) => answerBeacons(beacons, request);
}
