// Storage layers: ZFS, LVM, software RAID, and on request the names of storage initiators.
import { defineGrain, type GrainContext, newDict, type PlainDict, type Value } from 'halite/sdk';
import { listDir, pathExists, readText, readTrimmed } from 'halite/sdk/fs';
import { which } from 'halite/sdk/system';
import { lines, words } from 'halite/sdk/text';

async function zfsGrains(ctx: GrainContext): Promise<PlainDict> {
  const zpool = which('zpool');
  const supported = zpool !== null && (pathExists('/sys/module/zfs') || which('zfs-fuse') !== null);
  const grains = newDict([['zfs_support', supported]]);
  const man = which('man');
  // Salt reads the manual page to find out whether feature flags exist; without ZFS there are none.
  const flags = supported && man ? (await ctx.exec(man, ['-w', 'zpool-features'])).retcode === 0 : false;
  grains['zfs_feature_flags'] = flags;
  if (!supported || !zpool) return grains;
  const { stdout } = await ctx.exec(zpool, ['list', '-H', '-o', 'name,size']);
  const pools = newDict();
  for (const line of lines(stdout)) {
    const [name, size] = words(line);
    if (name && size) pools[name] = size;
  }
  if (Object.keys(pools).length > 0) grains['zpool'] = pools;
  return grains;
}

async function lvmGrains(ctx: GrainContext): Promise<PlainDict> {
  const lvm = which('lvm');
  if (!lvm) return newDict();
  const groups = newDict();
  const { stdout } = await ctx.exec(lvm, ['vgs', '-o', 'vg_name', '--noheadings']);
  for (const group of lines(stdout)
    .map((line) => line.trim())
    .filter(Boolean)) {
    const volumes = await ctx.exec(lvm, ['lvs', '-o', 'lv_name', '--noheadings', group]);
    groups[group] = lines(volumes.stdout).map((line) => line.trim());
  }
  return newDict([['lvm', groups]]);
}

/** Names of software RAID devices in the text of /proc/mdstat. */
export function parseMdstat(text: string): string[] {
  const found = lines(text)
    .filter(
      (line) => !line.startsWith('Personalities : ') && !line.startsWith('unused devices:') && line.includes(' : '),
    )
    .map((line) => line.slice(0, line.indexOf(' : ')));
  return [...new Set(found)].sort();
}

function initiatorGrains(opts: Readonly<Record<string, Value>>): PlainDict {
  const grains = newDict();
  if (opts['iscsi_grains']) {
    const text = readText('/etc/iscsi/initiatorname.iscsi') ?? '';
    grains['iscsi_iqn'] = lines(text).flatMap((line) => /^InitiatorName=(.*)/.exec(line.trim())?.[1] ?? []);
  }
  if (opts['nvme_grains']) {
    grains['nvme_nqn'] = lines(readText('/etc/nvme/hostnqn') ?? '')
      .map((line) => line.trim())
      .filter((line) => line.startsWith('nqn.'));
  }
  if (opts['fibre_channel_grains']) {
    const ports = listDir('/sys/class/fc_host').map(
      (host) => readTrimmed(`/sys/class/fc_host/${host}/port_name`) ?? '',
    );
    grains['fc_wwn'] = ports.filter(Boolean).map((name) => name.slice(2));
  }
  return grains;
}

export default defineGrain({
  name: 'storage',
  doc: 'ZFS pools, LVM volumes, RAID devices; if configured, iSCSI, NVMe and Fibre Channel names.',
  priority: 10,
  async collect(ctx) {
    const [zfs, lvm] = await Promise.all([zfsGrains(ctx), lvmGrains(ctx)]);
    const grains = Object.assign(zfs, lvm, initiatorGrains(ctx.opts));
    const mdstat = readText('/proc/mdstat');
    if (mdstat !== undefined) grains['mdadm'] = parseMdstat(mdstat);
    return grains;
  },
});
