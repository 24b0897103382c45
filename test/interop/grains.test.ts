// Grains of a Halite minion and a real Salt 3006 minion on the same machine are the same.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { halite, runProgram } from '../support/deployment.ts';
import { saltRelease } from '../support/salt-release.ts';

/** Change from one moment or process to the next, or name the program itself. */
const volatile = new Set([
  'pid',
  'saltpath',
  'saltversion',
  'saltversioninfo',
  'pythonexecutable',
  'pythonpath',
  'pythonversion',
  'zmqversion',
  'path',
  'localtime',
  'cwd',
  'machine_id',
  'server_id_seed',
]);

it('every common grain is equal, and at most ten are missing', async () => {
  const root = mkdtempSync(join(tmpdir(), 'halite-grains-'));
  try {
    writeFileSync(join(root, 'minion'), `id: same\nroot_dir: ${root}\nfile_client: local\nmaster_type: disable\n`);
    const items = async (bin: string): Promise<Record<string, unknown>> => {
      const { stdout, stderr } = await runProgram(join(bin, 'salt-call'), [
        '--local',
        '-c',
        root,
        '-l',
        'quiet',
        'grains.items',
        '--out=json',
      ]);
      try {
        return (JSON.parse(stdout) as { local: Record<string, unknown> }).local;
      } catch {
        throw new Error(`no JSON: ${stdout.slice(0, 500)} ${stderr.slice(0, 2000)}`);
      }
    };
    const ours = await items(halite.bin);
    const real = await items(saltRelease('3006.27').bin);
    const missing = Object.keys(real).filter((name) => !(name in ours));
    expect(missing.length, `missing: ${missing.join(', ')}`).toBeLessThanOrEqual(10);
    const common = Object.keys(real).filter((name) => name in ours && !volatile.has(name));
    expect(common.length).toBeGreaterThan(60);
    const pick = (grains: Record<string, unknown>): Record<string, unknown> =>
      Object.fromEntries(common.map((name) => [name, grains[name]]));
    expect(pick(ours)).toEqual(pick(real));
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
