// Flags of filesystems.
import { describe, expect, it } from 'vitest';
import { mountFlags } from './mount-flags.ts';

const table = [
  '/dev/a / ext4 rw,relatime 0 0',
  'tmpfs /run tmpfs rw,nosuid,nodev,noexec 0 0',
  'x /mnt/with\\040space xfs ro,noatime,size=4k 0 0',
  'over /run tmpfs ro 0 0',
].join('\n');

describe('flags of the filesystem of a path', () => {
  it.each([
    ['/etc/passwd', 4096],
    ['/run/x', 1],
    ['/running', 4096],
    ['/mnt/with space/x', 1025],
    ['/mnt', 4096],
  ])('%s: %i', (path, flags) => {
    expect(mountFlags(path, table)).toBe(flags);
  });
});
