// Tokens as files: expiry, planted files, names that are no tokens.
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pack, unpack } from '../../base/codec/msgpack/index.ts';
import type { Value } from '../../base/codec/value.ts';
import { TokenFiles } from './localfs.ts';

let folder: string;
let now = 1_000_000;
let tokens: TokenFiles;
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'halite-tokens-')), 'tokens');
  now = 1_000_000_000;
  tokens = new TokenFiles(folder, 'sha256', () => now);
});
afterEach(() => rmSync(join(folder, '..'), { recursive: true, force: true }));

const data = { name: 'fred', eauth: 'pam', start: 1_000_000, expire: 1_000_010 };
const name = 'ab'.repeat(32);
const plant = (content: Value, file = name): string => {
  writeFileSync(join(folder, file), pack(content, { bin: true }), { mode: 0o600 });
  return file;
};

describe('tokens as files', () => {
  it('are stored in the form of Salt, for their owner alone', async () => {
    const { token } = await tokens.create({ ...data, groups: ['ops'], rules: ['test.*', { 'web*': ['.*'] }] });
    expect(token).toMatch(/^[0-9a-f]{64}$/);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, token)).mode & 0o777).toBe(0o600);
    expect(unpack(readFileSync(join(folder, token)))).toMatchObject({
      token,
      name: 'fred',
      eauth: 'pam',
      auth_list: ['test.*', { 'web*': ['.*'] }],
    });
    expect(await tokens.get(token)).toEqual({ ...data, token, groups: ['ops'], rules: ['test.*', { 'web*': ['.*'] }] });
    expect(await tokens.list()).toHaveLength(1);
  });

  it('end at their time, at the first look', async () => {
    const { token } = await tokens.create(data);
    now = 1_000_011_000;
    expect(await tokens.get(token)).toBeUndefined();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('are deleted, and swept when they are expired', async () => {
    const { token } = await tokens.create(data);
    expect(await tokens.delete(token)).toBe(true);
    expect(await tokens.delete(token)).toBe(false);
    await tokens.create(data);
    const stays = await tokens.create({ ...data, expire: 2_000_000 });
    now = 1_500_000_000;
    await tokens.sweep();
    expect(readdirSync(folder)).toEqual([stays.token]);
  });

  it('of Salt 3008 are read too', async () => {
    plant({ data: { ...data, token: name }, _expires: 1_000_010 }, `${name}.p`);
    expect(await tokens.get(name)).toEqual({ ...data, token: name });
    now = 1_000_011_000;
    expect(await tokens.get(name)).toBeUndefined();
    expect(readdirSync(folder)).toEqual([]);
  });

  it.each(['../../etc/passwd', '/etc/passwd', '', '.', '..', `${'ab'.repeat(31)}\0`, 'AB'.repeat(32), 'a'.repeat(1e6)])(
    'have a name that touches no other file: %#',
    async (bad) => {
      const outside = join(folder, '..', 'outside');
      writeFileSync(outside, pack({ ...data, expire: 9e9 }));
      expect(await tokens.get(bad)).toBeUndefined();
      expect(await tokens.get('../outside')).toBeUndefined();
      expect(await tokens.delete('../outside')).toBe(false);
      expect(existsSync(outside)).toBe(true);
    },
  );

  it.each<[string, () => string]>([
    ['of another token', () => plant({ ...data, token: 'cd'.repeat(32) })],
    ['without a name', () => plant({ ...data, name: null })],
    ['with times of another kind', () => plant({ ...data, expire: '9999999999' })],
    ['that is no map', () => plant(['fred'])],
    [
      'that is damaged',
      () => {
        writeFileSync(join(folder, name), Buffer.from([0xc1]), { mode: 0o600 });
        return name;
      },
    ],
    ['that is huge', () => plant({ ...data, name: 'x'.repeat(2 << 20) })],
    [
      'that others can write',
      () => {
        chmodSync(join(folder, plant({ ...data, expire: 9e9 })), 0o666);
        return name;
      },
    ],
    [
      'that is a link',
      () => {
        writeFileSync(join(folder, '..', 'elsewhere'), pack({ ...data, expire: 9e9 }), { mode: 0o600 });
        symlinkSync('../elsewhere', join(folder, name));
        return name;
      },
    ],
  ])('are not files %s', async (_, make) => {
    make();
    expect(await tokens.get(name)).toBeUndefined();
  });

  it('are refused but not deleted while the folder cannot be read', async () => {
    const { token } = await tokens.create(data);
    const broken = new TokenFiles(folder, 'sha256', () => now);
    rmSync(folder, { recursive: true });
    writeFileSync(folder, '');
    await expect(broken.get(token)).rejects.toThrow(/cannot be read/);
  });
});
