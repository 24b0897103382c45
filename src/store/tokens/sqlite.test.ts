// Tokens in a database: expiry, damage, locks, and rows that others have written.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newDict, PyFloat } from '../../base/codec/value.ts';
import { openDatabase } from '../sqlite/driver.ts';
import { TokenTable } from './sqlite.ts';
import { digestOf } from './tokens.ts';

let folder: string;
let file: string;
let now: number;
let logged: string[];
let tokens: TokenTable;
const open = (): TokenTable =>
  new TokenTable({
    ...{ file, hashType: 'sha256', now: () => now },
    log: { error: (text: string) => void logged.push(text) } as never,
  });
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'halite-token-table-'));
  file = join(folder, 'tokens', 'tokens.db');
  now = 1_000_000_000;
  logged = [];
  tokens = open();
});
afterEach(() => {
  tokens.close();
  rmSync(folder, { recursive: true, force: true });
});

const data = { name: 'fred', eauth: 'pam', start: 1_000_000.5, expire: 1_000_010.25 };
const rules = ['test.*', newDict([['web*', ['.*', 7, new PyFloat(2)]]])];

describe('tokens in a database', () => {
  it('are the same when they are read again, by another process too', async () => {
    const made = await tokens.create({ ...data, groups: ['ops', '运维'], rules });
    expect(made.token).toMatch(/^[0-9a-f]{64}$/);
    expect(await tokens.get(made.token)).toEqual(made);
    const plain = await tokens.create(data);
    expect(await tokens.get(plain.token)).toEqual({ ...data, token: plain.token });
    const empty = await tokens.create({ ...data, rules: [] });
    tokens.close();
    tokens = open();
    expect(await tokens.get(made.token)).toEqual(made);
    expect(await tokens.get(empty.token), 'no rules are not the same as none given').toEqual(empty);
  });

  it('are not in the file, and their digests are no tokens', async () => {
    const { token } = await tokens.create(data);
    expect(statSync(join(folder, 'tokens')).mode & 0o777).toBe(0o700);
    tokens.close();
    for (const name of readdirSync(join(folder, 'tokens')))
      expect(readFileSync(join(folder, 'tokens', name)).includes(token), name).toBe(false);
    tokens = open();
    const [listed] = await tokens.list();
    expect(listed).toMatchObject({ name: 'fred', token: digestOf(token) });
    expect(await tokens.get(listed!.token)).toBeUndefined();
  });

  it('are deleted by the token and by the name in the list', async () => {
    const [one, two, three] = [await tokens.create(data), await tokens.create(data), await tokens.create(data)];
    expect(await tokens.delete(one.token)).toBe(true);
    expect(await tokens.delete(one.token)).toBe(false);
    expect(await tokens.delete(digestOf(two.token))).toBe(true);
    expect((await tokens.list()).map(({ token }) => token)).toEqual([digestOf(three.token)]);
  });

  it('end at their time, at the first look, and are swept', async () => {
    const { token } = await tokens.create(data);
    const stays = await tokens.create({ ...data, expire: 2_000_000 });
    now = 1_000_010_250;
    expect(await tokens.get(token)).toBeUndefined();
    expect(await tokens.list()).toHaveLength(1);
    await tokens.create(data);
    await tokens.sweep();
    now = 0;
    expect((await tokens.list()).map((each) => each.token)).toEqual([digestOf(stays.token)]);
  });

  it.each(['', "' OR 1=1 --", '../../etc/passwd', 'AB'.repeat(32), 'a'.repeat(1e6)])('are never %#', async (bad) => {
    await tokens.create(data);
    expect(await tokens.get(bad)).toBeUndefined();
    expect(await tokens.delete(bad)).toBe(false);
    expect(await tokens.list()).toHaveLength(1);
  });
});

describe('a file that is not as it should be', () => {
  it.each([
    'this is no database, but long enough to be one'.repeat(200),
    'SQLite format 3\0 and then nothing that fits'.repeat(300),
  ])('is set aside: %#', async (content) => {
    writeFileSync(file, content);
    const made = await Promise.all([tokens.create(data), tokens.create(data), tokens.get('ab'.repeat(32))]);
    expect(await tokens.get(made[0].token)).toEqual(made[0]);
    expect(await tokens.get(made[1].token)).toEqual(made[1]);
    expect(readdirSync(join(folder, 'tokens')).filter((name) => name.includes('.damaged-'))).toHaveLength(1);
    expect(logged).toEqual([expect.stringContaining('set aside')]);
  });

  it('that somebody has locked refuses for now, and loses nothing', async () => {
    const { token } = await tokens.create(data);
    const other = await openDatabase(file);
    other.exec('BEGIN EXCLUSIVE');
    await expect(tokens.create(data)).rejects.toMatchObject({ code: 'store.unavailable' });
    other.exec('COMMIT');
    other.close();
    expect(await tokens.get(token)).toBeDefined();
    expect(logged).toEqual([]);
  });

  it.each([
    ["UPDATE token SET user_groups = '{broken'"],
    ['UPDATE token SET rules = \'"test.*"\''],
    ["UPDATE token SET user_groups = '[1]'"],
    ["UPDATE token SET expire = 'never'"],
    ["UPDATE token SET name = x'00'"],
  ])('has rows that open nothing: %s', async (sql) => {
    const { token } = await tokens.create({ ...data, groups: ['ops'], rules });
    const other = await openDatabase(file);
    other.exec(sql);
    other.close();
    expect(await tokens.get(token)).toBeUndefined();
  });

  it('whose folder cannot be used refuses, and works again afterwards', async () => {
    tokens.close();
    rmSync(join(folder, 'tokens'), { recursive: true });
    writeFileSync(join(folder, 'tokens'), '');
    await expect(tokens.get('ab'.repeat(32))).rejects.toMatchObject({ code: 'store.unavailable' });
    rmSync(join(folder, 'tokens'));
    tokens = open();
    expect(await tokens.create(data)).toMatchObject(data);
  });
});
