// Messages for unreadable archives, as in Salt, and options that only some formats need.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineModule, fn, newDict, p, type Value } from 'halite/sdk';
import { testContext } from 'halite/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import archive from './index.ts';

let folder: string;
const at = (name: string): string => join(folder, name);
const ctx = testContext({ modules: [archive] });
const call = (fun: string, args: Value[], kwargs: Record<string, Value> = {}) =>
  ctx.callWith(`archive.${fun}`, args, newDict(Object.entries(kwargs)));
const where = (path: string): string => `. Additional info follows:\n\narchive location:\n    ${path}`;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'halite-archive-'));
  writeFileSync(at('a.txt'), 'a');
  execFileSync('tar', ['-czf', at('x.tar.gz'), '-C', folder, 'a.txt']);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('archives', () => {
  it('uses a program for decompression only if the archive cannot be read without it', async () => {
    expect(await call('list', [at('x.tar.gz')], { options: 'no-such-program' })).toEqual(['a.txt']);
  });

  it('names the location of an unreadable archive', async () => {
    const guess = "Unable to guess archive format, please pass an 'archive_format' argument";
    await expect(call('list', [at('a.txt')])).rejects.toThrow(guess + where(at('a.txt')));
    const format = { archive_format: 'bogus' };
    const unknown = `Unsupported archive format 'bogus'${where(at('x.tar.gz'))}`;
    await expect(call('list', [at('x.tar.gz')], format)).rejects.toThrow(unknown);
    const missing = `[Errno 2] No such file or directory: '${at('n.zip')}'`;
    await expect(call('is_encrypted', [at('n.zip')])).rejects.toThrow(/^\[Errno 2\]/);
    await expect(call('list', [at('n.zip')])).rejects.toThrow(`Failed to list contents of ${at('n.zip')}: ${missing}`);
    await expect(call('unzip', [at('n.zip'), at('out')])).rejects.toThrow(
      `Exception encountered unpacking zipfile: ${missing}`,
    );
  });

  it('calls tar by its name, because tar prefixes its messages with it', async () => {
    const shown = fn({
      doc: 'x',
      params: { cmd: p.list(), kwargs: p.kwargs() },
      run: (args) => args.cmd.map(String).join(' '),
    });
    const seen = testContext({
      modules: [archive, defineModule({ name: 'cmd', doc: 'x', functions: { run: shown } })],
    });
    expect(await seen.call('archive.tar', 'tf', '/n.tar')).toEqual(['tar tf /n.tar']);
  });
});
