// Known hosts whose keys are given instead of scanned, in a real file.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newDict } from 'halite/sdk';
import { which } from 'halite/sdk/system';
import { testContext } from 'halite/testing';
import { afterAll, describe, expect, it } from 'vitest';
import ssh from './index.ts';

const folder = mkdtempSync(join(tmpdir(), 'halite-known-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const key = 'AAAAB3NzaC1yc2EAAAADAQABAAAAgQC1';

describe.skipIf(which('ssh-keygen') === null)('ssh.set_known_host', () => {
  it('names the port that the line has, and no kind where none was given', async () => {
    const config = join(folder, 'known_hosts');
    const set = (given: Record<string, string | number | boolean>) =>
      testContext({ modules: [ssh] }).callWith(
        'ssh.set_known_host',
        [],
        newDict(Object.entries({ config, key, ...given })),
      );
    const [hostname, hash_known_hosts] = ['example.com', false];
    expect(await set({ hostname, hash_known_hosts, enc: 'ssh-rsa', port: 2222 })).toEqual({
      status: 'updated',
      old: null,
      new: [{ hostname, enc: 'ssh-rsa', key, port: 2222 }],
    });
    expect(readFileSync(config, 'utf8')).toBe(`[example.com]:2222 ssh-rsa ${key}\n`);
    expect(await set({ hostname: 'other.example.com', hash_known_hosts })).toMatchObject({
      new: [{ hostname: 'other.example.com', enc: null, key }],
    });
  });
});
