// Functions of `file` that custom states use, with the recorded answers of Salt 3006.27; and copies of folders.
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FileClient, Value } from 'halite/sdk';
import { testContext } from 'halite/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

let folder: string;
let file: string;
const owner = { user: process.getuid?.() ?? 0, group: process.getgid?.() ?? 0 };
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'halite-managed-test-'));
  file = join(folder, 'a.txt');
  writeFileSync(file, 'alpha\nbeta\n', { mode: 0o644 });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function call(fun: string, args: Value[], kwargs: Record<string, Value> = {}, test = false): Promise<unknown> {
  const files = { list: async () => [] } as unknown as FileClient;
  const ctx = testContext({ opts: { cachedir: join(folder, 'cache') }, files });
  Object.assign(ctx, { test });
  return plain(await ctx.callWith(`file.${fun}`, args, kwargs));
}

describe('check_perms', () => {
  const before = { luser: owner.user, lgroup: owner.group, lmode: '0644' };
  const answer = (fields: object) => ({ name: file, changes: {}, comment: '', result: true, ...fields });
  const perms = (mode: Value): Value[] => [file, {}, owner.user, owner.group, mode];

  it('reports that nothing differs', async () => {
    expect(await call('check_perms', perms('0644'))).toEqual([answer({}), before]);
  });
  it('sets a mode', async () => {
    const changed = answer({ changes: { mode: '0600' } });
    expect(await call('check_perms', perms('0600'))).toEqual([changed, { ...before, cmode: '0600' }]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });
  it('changes nothing under test', async () => {
    const planned = answer({ changes: { mode: '0600' }, result: null });
    expect(await call('check_perms', perms('0600'), {}, true)).toEqual([planned, before]);
    expect(statSync(file).mode & 0o777).toBe(0o644);
  });
  it('reports failures', async () => {
    const [said] = (await call('check_perms', [file, null, 'no_such_user_', owner.group, null])) as [object];
    expect(said).toEqual(
      answer({ comment: 'User does not exist\n; Failed to change user to no_such_user_', result: false }),
    );
  });
  it('needs a file', async () => {
    await expect(call('check_perms', ['/no/such', {}, 0, 0, '0600'])).rejects.toThrow('Path not found: /no/such');
  });
});

describe('sources', () => {
  it('uses the first that exists', async () => {
    expect(await call('source_list', [['/no/such', { [file]: 'md5=1' }], 'x', 'base'])).toEqual([file, 'md5=1']);
    expect(await call('source_list', ['salt://x', 'y', 'base'])).toEqual(['salt://x', 'y']);
    expect(await call('source_list', ['salt://x', { hash_type: 'md5', hsum: '1' }, 'base'])).toEqual([
      'salt://x',
      { hash_type: 'md5', hsum: '1' },
    ]);
  });
  it('finds a hash of the requested type', async () => {
    const [md5, sha1] = ['0'.repeat(32), '1'.repeat(40)];
    writeFileSync(file, `${md5}  other\n${sha1}  other\n${sha1.replaceAll('1', '2')}  mine\n`);
    expect(await call('extract_hash', [file, 'sha1', '/x/mine'])).toEqual({ hsum: '2'.repeat(40), hash_type: 'sha1' });
    expect(await call('extract_hash', [file, 'md5', '/x/mine'])).toEqual({ hsum: md5, hash_type: 'md5' });
    expect(await call('extract_hash', [file, 'sha512'])).toBeNull();
  });
  it('refuses an unknown template engine', async () => {
    expect(await call('apply_template_on_contents', ['x', 'bogus', {}, {}, 'base'])).toEqual({
      result: false,
      comment: 'Specified template format bogus is not supported',
    });
  });
  it('returns a local source with its hash, or an error', async () => {
    const rest: Value[] = [null, '', null, 'root', 'root', '0644', null, 'base', {}, {}];
    const args = (source: string): Value[] => ['/x', null, source, ...rest.slice(1)];
    const sum = { hash_type: 'sha256', hsum: 'e49c81e2d2f84e259d40e2fb8192f3bcd198b355184845d76d8f58807d0d78ee' };
    expect(await call('get_managed', args(file))).toEqual([file, sum, '']);
    expect(await call('get_managed', args('/no/such'))).toEqual(['', {}, 'Local file source /no/such does not exist']);
  });
});

describe('content', () => {
  const { user, group } = owner;
  const manage = (name: string, mode: Value): Value[] => [name, '', {}, '', '', user, group, mode, null, 'base', ''];

  it('is written', async () => {
    const made = join(folder, 'new');
    expect(await call('manage_file', manage(made, '0644'), { contents: 'hi\n' })).toEqual({
      name: made,
      changes: { diff: 'New file', mode: '0644' },
      comment: `File ${made} updated`,
      result: true,
    });
    expect(readFileSync(made, 'utf8')).toBe('hi\n');
  });
  it('is kept when it is correct', async () => {
    expect(await call('manage_file', manage(file, '0644'), { contents: 'alpha\nbeta\n' })).toEqual({
      name: file,
      changes: {},
      comment: `File ${file} is in the correct state`,
      result: true,
    });
  });
  it('is compared', async () => {
    const check: Value[] = [file, null, '', null, user, group, '0644', null, null, {}, {}, 'base'];
    const diff = '--- \n+++ \n@@ -1,2 +1,2 @@\n alpha\n-beta\n+gamma\n';
    expect(await call('check_managed_changes', check, { contents: 'alpha\ngamma\n' })).toEqual({ diff });
    expect(await call('check_managed', check, { contents: 'alpha\ngamma\n' })).toEqual([
      null,
      `The following values are set to be changed:\ndiff: ${diff}\n`,
    ]);
    expect(await call('check_managed', check, { contents: 'alpha\nbeta\n' })).toEqual([
      true,
      `The file ${file} is in the correct state`,
    ]);
    const several: Value[] = [file, ['/no/such', file], '', null, user, group, '0644', null, null, {}, {}, 'base'];
    expect(await call('check_managed_changes', several, { skip_verify: true })).toEqual({});
    expect(await call('check_file_meta', [file, null, file, {}, user, group, '0600', null, 'base'])).toEqual({
      mode: '0600',
    });
  });
});

describe('copy of a folder', () => {
  beforeEach(() => {
    mkdirSync(join(folder, 'from/sub'), { recursive: true });
    writeFileSync(join(folder, 'from/sub/x'), 'x', { mode: 0o600 });
    symlinkSync('sub/x', join(folder, 'from/link'));
    utimesSync(join(folder, 'from/sub/x'), 1e9, 1e9);
  });
  const at = (name: string): string => join(folder, name);

  it('copies the targets of links', async () => {
    expect(await call('copy', [at('from'), at('to')], { recurse: true })).toBe(true);
    expect(lstatSync(at('to/link')).isFile()).toBe(true);
    expect(readFileSync(at('to/link'), 'utf8')).toBe('x');
    expect(statSync(at('to/sub/x')).mode & 0o777).toBe(0o666 & ~process.umask());
  });
  it('keeps modes and times in a new folder', async () => {
    mkdirSync(at('to'));
    writeFileSync(at('to/old'), '');
    expect(await call('copy', [at('from'), at('to')], { recurse: true, remove_existing: true })).toBe(true);
    expect(lstatSync(at('to/old'), { throwIfNoEntry: false })).toBeUndefined();
    expect(statSync(at('to/sub/x')).mtimeMs).toBe(1e12);
    expect(statSync(at('to/sub/x')).mode & 0o777).toBe(0o600);
  });
});

describe('search', () => {
  it('searches the whole file in multiline mode', async () => {
    expect(await call('search', [file, 'alpha.*beta'], { flags: 16, multiline: true })).toBe(true);
    expect(await call('search', [file, 'alpha.*beta'], { flags: 16 })).toBe(true);
    expect(await call('search', [file, 'alpha.*beta'], { multiline: true })).toBe(false);
  });
});

describe('find', () => {
  it('orders numbers as numbers', async () => {
    for (const size of [2, 10, 100]) writeFileSync(join(folder, `f${size}`), 'x'.repeat(size));
    expect(await call('find', [folder], { type: 'f', print: 'size', name: 'f*' })).toEqual([2, 10, 100]);
  });
});
