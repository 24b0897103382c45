// Block devices, split into rotating disks and solid state drives.

import { defineGrain, newDict } from 'halite/sdk';
import { listDir, readlinkSync, readText } from 'halite/sdk/fs';

function isVirtual(name: string): boolean {
  try {
    return readlinkSync(`/sys/block/${name}`).startsWith('../devices/virtual/');
  } catch {
    return true;
  }
}

export default defineGrain({
  name: 'disks',
  doc: 'Names of the machine’s disks (`disks`) and solid state drives (`ssds`).',
  priority: 10,
  collect() {
    const disks: string[] = [];
    const ssds: string[] = [];
    for (const name of listDir('/sys/block')) {
      if (isVirtual(name)) continue;
      const rotational = readText(`/sys/block/${name}/queue/rotational`)?.charAt(0);
      if (rotational === '0') ssds.push(name);
      else if (rotational === '1') disks.push(name);
    }
    return newDict([
      ['disks', disks],
      ['ssds', ssds],
    ]);
  },
});
