// Requests about beacons: changes, beacons of the pillar, and the file in which they are saved.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { Beacons } from './beacons.ts';
import { answerBeacons } from './requests.ts';
import { readSavedBeacons, savedBeaconsPath, writeSavedBeacons } from './saved.ts';

const folder = mkdtempSync(join(tmpdir(), 'halite-beacons-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const value = (of: unknown): Value =>
  Array.isArray(of)
    ? of.map(value)
    : typeof of === 'object' && of !== null
      ? newDict(Object.entries(of).map(([k, v]) => [k, value(v)]))
      : (of as Value);
const dict = (of: unknown): PlainDict => value(of) as PlainDict;

function fresh() {
  const path = savedBeaconsPath({ conf_file: join(folder, 'minion'), default_include: 'minion.d/*.conf' });
  let changes = 0;
  const beacons = new Beacons(dict({ ps: [{ processes: {} }] }), {
    pillar: () => dict({ beacons: { load: [{ averages: {} }] } }),
    save: async (own) => {
      await writeSavedBeacons(path, own);
      return path;
    },
    validate: async (name) => ({ valid: name !== 'bad', comment: 'said' }),
    available: async () => ['ps'],
    changed: () => void changes++,
  });
  return { beacons, ask: (request: unknown) => answerBeacons(beacons, dict(request)), path, changes: () => changes };
}

describe('requests', () => {
  it('list, validate and change', async () => {
    const { ask, changes } = fresh();
    expect(await ask({ func: 'list' })).toEqual({
      complete: true,
      beacons: { load: [{ averages: {} }], ps: [{ processes: {} }] },
    });
    expect(await ask({ func: 'list', include_pillar: false })).toMatchObject({ beacons: { ps: expect.anything() } });
    expect(await ask({ func: 'validate_beacon', name: 'bad' })).toEqual({
      complete: true,
      valid: false,
      vcomment: 'said',
    });
    expect(await ask({ func: 'add', name: 'x', beacon_data: [] })).toMatchObject({
      comment: 'Added new beacon item: x',
    });
    expect(await ask({ func: 'disable_beacon', name: 'ps' })).toMatchObject({
      beacons: { ps: [{ processes: {} }, { enabled: false }] },
    });
    expect(await ask({ func: 'enable_beacon', name: 'ps' })).toMatchObject({
      beacons: { ps: [{ processes: {} }, { enabled: true }] },
    });
    expect(await ask({ func: 'delete', name: 'x' })).toMatchObject({
      complete: true,
      comment: 'Deleting beacon item: x',
    });
    expect(await ask({ func: 'disable' })).toMatchObject({ beacons: { enabled: false } });
    expect(changes()).toBe(5);
    expect(await ask({ func: 'reset' })).toMatchObject({ beacons: {} });
    await expect(ask({ func: '__proto__' })).rejects.toThrow('Beacons have no function');
  });

  it('do not change beacons of the pillar', async () => {
    const { ask, changes } = fresh();
    for (const func of ['add', 'modify', 'delete', 'enable_beacon', 'disable_beacon'])
      expect(await ask({ func, name: 'load', beacon_data: [] })).toMatchObject({
        complete: false,
        comment: expect.stringContaining('configured in pillar'),
      });
    expect(changes()).toBe(0);
  });

  it('save to a file that is read back', async () => {
    const { ask, path } = fresh();
    expect(await ask({ func: 'save' })).toEqual({ complete: true, file: join(folder, 'minion.d/beacons.conf') });
    expect(readFileSync(path, 'utf8')).toBe('beacons:\n  ps:\n  - processes: {}\n');
    expect(await readSavedBeacons(path)).toEqual({ ps: [{ processes: {} }] });
    await writeSavedBeacons(path, newDict());
    expect(readFileSync(path, 'utf8')).toBe('');
  });
});
