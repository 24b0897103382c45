// Finding the installed release of Salt's library, and what it means for the event socket.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { framingOf, installedVersions } from './installed.ts';

it('reads the release from the folders of every Python', () => {
  const root = mkdtempSync(join(tmpdir(), 'halite-installed-'));
  try {
    const put = (...parts: string[]): unknown => mkdirSync(join(root, ...parts), { recursive: true });
    expect(installedVersions([root, '/nonexistent'])).toEqual([]);
    put('python3.11/site-packages/salt');
    put('python3.11/site-packages/salt-3006.27.dist-info');
    put('python3/dist-packages/salt');
    put('python3/dist-packages/salt-3007.14.egg-info');
    // Left behind by a release that was removed, and other packages.
    put('python3.9/site-packages/salt-3005.1.dist-info');
    put('python3.11/site-packages/salt_ssh-1.0.dist-info');
    expect(installedVersions([root])).toEqual(['3006.27', '3007.14']);
  } finally {
    rmSync(root, { recursive: true });
  }
});

it('knows which releases put lengths before events', () => {
  for (const version of ['3006.26', '3006.27', '3006.30']) expect(framingOf(version), version).toBe('length');
  for (const version of ['2018.3', '3005.5', '3006.9', '3006.25', '3007.0', '3007.14', '3008.2'])
    expect(framingOf(version), version).toBe('stream');
});
