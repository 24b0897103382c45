// Checks whether a beacon can be configured: the beacon must exist here and accept its settings.
import type { Value } from '../../base/codec/value.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { Loader } from '../../extend/loader/index.ts';
import type { Beacon, BeaconContext } from '../../extend/sdk/index.ts';
import { type BeaconSettings, kindOf, readSettings } from './settings.ts';

export type MakeContext = (name: string) => BeaconContext;

export interface ReadyBeacon {
  readonly beacon: Beacon;
  readonly settings: BeaconSettings;
}

/** The beacon and its settings, or the reason why it cannot run. */
export async function prepareBeacon(
  loader: Loader,
  name: string,
  config: Value,
  context: MakeContext,
): Promise<ReadyBeacon | { readonly problem: string }> {
  const kind = kindOf(name, config);
  const found = await loader.get('beacons', kind);
  if (!found) {
    const why = loader.reason('beacons', kind);
    return { problem: `Beacon "${kind}" is not available.${why ? ` ${why}` : ''}` };
  }
  const settings = readSettings(name, config);
  if ('problem' in settings) return settings;
  try {
    const problem = await found.extension.validate?.(settings.own, context(name));
    return problem === undefined ? { beacon: found.extension, settings } : { problem };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

/** Names of the beacons that work here. */
export async function availableBeacons(loader: Loader): Promise<string[]> {
  return (await loader.all('beacons')).map(({ name }) => name);
}
