// Files of extensions in test mode: reading works, changing is refused, scratch folders are writable.
import {
  existsSync,
  mkdtempSync as makeFolder,
  readFileSync as read,
  rmSync as remove,
  writeFileSync as write,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { inReadOnly } from '../read-only.ts';
import * as fs from './index.ts';

const folder = makeFolder(join(tmpdir(), 'halite-sdk-fs-'));
afterAll(() => remove(folder, { recursive: true, force: true }));
const file = join(folder, 'file');
write(file, 'before');

const changes: Readonly<Record<string, () => unknown>> = {
  appendFileSync: () => fs.appendFileSync(file, 'x'),
  chmodSync: () => fs.chmodSync(file, 0o600),
  chownSync: () => fs.chownSync(file, 0, 0),
  copyFileSync: () => fs.copyFileSync(file, `${file}.copy`),
  cpSync: () => fs.cpSync(file, `${file}.copy`),
  linkSync: () => fs.linkSync(file, `${file}.link`),
  mkdirSync: () => fs.mkdirSync(join(folder, 'new')),
  openSync: () => fs.openSync(file, 'a'),
  'openSync with flags': () => fs.openSync(file, fs.constants.O_RDWR),
  renameSync: () => fs.renameSync(file, `${file}.other`),
  replaceFileNow: () => fs.replaceFileNow(file, 'x'),
  rmSync: () => fs.rmSync(file),
  symlinkSync: () => fs.symlinkSync(file, `${file}.link`),
  truncateSync: () => fs.truncateSync(file),
  unlinkSync: () => fs.unlinkSync(file),
  utimesSync: () => fs.utimesSync(file, 0, 0),
  writeFileSync: () => fs.writeFileSync(file, 'x'),
  mkdir: () => fs.mkdir(join(folder, 'new')),
  open: () => fs.open(file, 'r+'),
  rename: () => fs.rename(file, `${file}.other`),
  replaceFile: () => fs.replaceFile(file, 'x'),
  rm: () => fs.rm(file),
  writeFile: () => fs.writeFile(file, 'x'),
};

describe('files in test mode', () => {
  it.each(Object.entries(changes))('%s is refused and named', async (_, change) => {
    const { refused } = await inReadOnly('test.state', [], async () => {
      await expect((async () => change())()).rejects.toThrow('in test mode');
    });
    expect(refused).toHaveLength(1);
    expect(refused[0]).toContain(folder);
    expect(read(file, 'utf8')).toBe('before');
    expect(existsSync(join(folder, 'new'))).toBe(false);
  });

  it('can be read', async () => {
    const { value, refused } = await inReadOnly('test.state', [], async () => {
      fs.closeSync(fs.openSync(file, 'r'));
      await (await fs.open(file, fs.constants.O_RDONLY)).close();
      return [fs.readFileSync(file, 'utf8'), await fs.readFile(file, 'utf8'), fs.statSync(file).isFile()];
    });
    expect([value, refused]).toEqual([['before', 'before', true], []]);
  });

  it('may be changed in a temporary folder', async () => {
    const { value } = await inReadOnly('test.state', [], async () => {
      const scratch = fs.mkdtempSync(join(tmpdir(), 'halite-sdk-scratch-'));
      fs.writeFileSync(join(scratch, 'x'), 'inside');
      const text = fs.readFileSync(join(scratch, 'x'), 'utf8');
      fs.rmSync(scratch, { recursive: true });
      return [text, existsSync(scratch)];
    });
    expect(value).toEqual(['inside', false]);
  });

  it('may be changed outside of test mode', () => {
    const other = join(folder, 'other');
    fs.writeFileSync(other, 'x');
    fs.renameSync(other, `${other}2`);
    expect(read(`${other}2`, 'utf8')).toBe('x');
  });
});
