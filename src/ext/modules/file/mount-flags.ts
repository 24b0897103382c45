// The flags of statvfs, which Node does not provide: read from the mount table.
import { readText } from 'halite/sdk/fs';

const bits: Readonly<Record<string, number>> = {
  ro: 1,
  nosuid: 2,
  nodev: 4,
  noexec: 8,
  sync: 16,
  mand: 64,
  noatime: 1024,
  nodiratime: 2048,
  relatime: 4096,
};

/** `f_flag` of the filesystem of a path: of the last mount with the longest matching mount point. */
export function mountFlags(path: string, table: string = readText('/proc/self/mounts') ?? ''): number {
  let [place, flags] = ['', 0];
  for (const line of table.split('\n')) {
    const [, escaped = '', , options = ''] = line.split(' ');
    const point = escaped.replace(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)));
    const fits = path === point || path.startsWith(point.endsWith('/') ? point : `${point}/`);
    if (point === '' || !fits || point.length < place.length) continue;
    place = point;
    flags = options.split(',').reduce((sum, option) => sum | (bits[option] ?? 0), 0);
  }
  return flags;
}
