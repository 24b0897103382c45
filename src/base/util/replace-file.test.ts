import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { replaceFile, replaceFileNow, replaceSecretNow } from './replace-file.ts';

let folder: string;
const at = (name: string): string => join(folder, name);
const modeOf = (name: string): string => (statSync(at(name)).mode & 0o777).toString(8);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'halite-replace-'));
  writeFileSync(at('f'), 'before', { mode: 0o644 });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('a file that is replaced', () => {
  it('has the requested mode, and leaves no temporary file', async () => {
    replaceFileNow(at('f'), 'after');
    expect([readFileSync(at('f'), 'utf8'), modeOf('f')]).toEqual(['after', '600']);
    await replaceFile(at('f'), 'public', 0o644);
    expect([readFileSync(at('f'), 'utf8'), modeOf('f')]).toEqual(['public', '644']);
    await expect(replaceFile(at('no/such'), 'x')).rejects.toThrow(/ENOENT/);
    expect(readdirSync(folder)).toEqual(['f']);
  });

  it('is named by errors, its temporary file is not', async () => {
    const error = await replaceFile(at('no/such'), 'x').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'ENOENT',
      path: at('no/such'),
      message: `ENOENT: no such file or directory, open '${at('no/such')}'`,
    });
    expect(() => replaceFileNow(folder, 'x')).toThrow(`rename '${folder}'`);
    expect(String((error as Error).stack)).not.toContain('.halite-');
  });

  it('that a user named through a link is replaced at the target of the link', () => {
    symlinkSync(at('f'), at('l'));
    replaceSecretNow(at('l'), 'key');
    expect([readFileSync(at('f'), 'utf8'), modeOf('f')]).toEqual(['key', '600']);
    expect(readdirSync(folder).sort()).toEqual(['f', 'l']);
  });
});
