// Which files salt-cp sends, and to which paths.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { captureTerminal } from '../testing.ts';
import { chunksOf, listTree, loadTexts, remotePath } from './files.ts';

let root: string;
const at = (...path: string[]) => join(root, ...path);
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'halite-cp-'));
  mkdirSync(at('tree/inner/empty'), { recursive: true });
  writeFileSync(at('a.conf'), 'a\n', { mode: 0o600 });
  writeFileSync(at('tree/b.conf'), 'b\n', { mode: 0o755 });
});
afterEach(() => rmSync(root, { recursive: true }));

describe('whole texts', () => {
  it('are read by path', () => {
    expect({ ...loadTexts([at('a.conf')], captureTerminal()) }).toEqual({ [at('a.conf')]: 'a\n' });
  });
  it('are not created from other bytes, which are sent in chunks', () => {
    writeFileSync(at('bin'), Buffer.from([0xff, 0x00, 0x80]));
    expect(loadTexts([at('a.conf'), at('bin')], captureTerminal())).toBeUndefined();
  });
  it('are refused for folders and missing files, with Salt’s codes', () => {
    const io = captureTerminal();
    expect(() => loadTexts([at('tree')], io)).toThrowError(expect.objectContaining({ code: 1 }));
    expect(io.stdout).toContain('is a directory, only files are supported in non-chunked mode.');
    expect(() => loadTexts([at('nope')], io)).toThrowError(expect.objectContaining({ code: 42 }));
    expect(io.stderr).toBe(`The referenced file, ${at('nope')} is not available.\n`);
  });
});

describe('trees', () => {
  it('have files with modes, and empty folders', () => {
    const { files, emptyFolders } = listTree([at('a.conf'), at('tree')], captureTerminal());
    expect([...files]).toEqual([
      [at('a.conf'), 0o600],
      [at('tree/b.conf'), 0o755],
    ]);
    expect(emptyFolders).toEqual([at('tree/inner/empty')]);
  });
  it('go below the destination by their own names', () => {
    const sources = [at('a.conf'), at('tree')];
    expect(remotePath(at('a.conf'), sources, '/dst', true)).toBe('/dst/a.conf');
    expect(remotePath(at('a.conf'), sources, '/dst', false)).toBe('/dst');
    expect(remotePath(at('tree/inner/x'), sources, '/dst', true)).toBe('/dst/tree/inner/x');
  });
});

describe('chunks', () => {
  const join64 = (parts: string[], unpack: (bytes: Buffer) => Buffer) =>
    Buffer.concat(parts.map((part) => unpack(Buffer.from(part, 'base64'))));

  it('form the file when joined', () => {
    const data = Buffer.from(Array.from({ length: 2500 }, (_, i) => i % 251));
    writeFileSync(at('big'), data);
    const plain = [...chunksOf(at('big'), 1000, false)];
    expect(plain).toHaveLength(3);
    expect(join64(plain, (bytes) => bytes).equals(data)).toBe(true);
    expect(join64([...chunksOf(at('big'), 1000, true)], gunzipSync).equals(data)).toBe(true);
  });
  it('an empty file is one empty chunk, so that it is created', () => {
    writeFileSync(at('none'), '');
    expect([...chunksOf(at('none'), 1000, false)]).toEqual(['']);
    writeFileSync(at('exact'), 'x'.repeat(1000));
    expect([...chunksOf(at('exact'), 1000, false)]).toHaveLength(1);
  });
});
