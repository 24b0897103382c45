// Beacon `diskusage`: the usage of a filesystem reaches the limit given for its mount point.

import { type BeaconContext, defineBeacon, newDict, type PlainDict } from 'halite/sdk';
import { statfs } from 'halite/sdk/fs';
import { pyFloat, pyRegex, roundTo } from 'halite/sdk/text';
import { partitions } from '../shared/ps/system-facts.ts';
import { percentOf } from './shared/settings.ts';

/** Used space as a percentage of the space available to users, as `df` shows it. */
async function usedPercent(mount: string): Promise<number | undefined> {
  const stats = await statfs(mount).catch(() => undefined);
  if (!stats) return undefined;
  const used = stats.blocks - stats.bfree;
  return used + stats.bavail > 0 ? roundTo((used / (used + stats.bavail)) * 100, 1) : 0;
}

/** Mount points are regular expressions that must match to the end. */
const expression = (mount: string): RegExp => pyRegex(mount.endsWith('$') ? mount : `${mount}$`);

async function read(settings: PlainDict, ctx: BeaconContext): Promise<PlainDict[]> {
  const mounts = [...new Set(partitions(true).map((part) => String(part['mountpoint'])))];
  const found: PlainDict[] = [];
  for (const [pattern, limit] of Object.entries(settings)) {
    for (const mount of mounts.filter((point) => expression(pattern).test(point))) {
      const used = await usedPercent(mount);
      if (used === undefined) ctx.log.debug(`${mount} is not a valid mount point.`);
      else if (used >= (percentOf(limit) ?? 100))
        found.push(newDict(Object.entries({ diskusage: pyFloat(used), mount })));
    }
  }
  return found;
}

export default defineBeacon({
  name: 'diskusage',
  doc: 'Sends an event when the usage of a filesystem reaches the limit for its mount point, which is a regular expression.',
  examples: ['diskusage:\n  - /: 63%\n  - /mnt/nfs.*: 50%\n  - interval: 120'],
  validate(settings) {
    for (const [pattern, limit] of Object.entries(settings)) {
      if (percentOf(limit) === undefined) return `Configuration for diskusage beacon: ${pattern} must be a percentage.`;
      try {
        expression(pattern);
      } catch {
        return `Configuration for diskusage beacon: ${pattern} is no regular expression.`;
      }
    }
    return undefined;
  },
  open: (settings, ctx) => ({ read: () => read(settings, ctx) }),
});
