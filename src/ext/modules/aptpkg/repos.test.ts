// Package sources: what a line says, and lines put into files.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { allSources, parseSource, type Source, sameSource, sourceLine, writeSource } from '../../shared/apt/repos.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function file(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'halite-sources-'));
  folders.push(folder);
  writeFileSync(join(folder, 'x.list'), text);
  return join(folder, 'x.list');
}

const line = 'deb [arch=amd64] http://x.example/deb stable main contrib # why';

describe('package sources', () => {
  it('keep the comment after them', () => {
    const source = parseSource(line, '') as Source;
    expect(source).toMatchObject({ comps: ['main', 'contrib'], comment: ' why', disabled: false });
    expect(sourceLine(source)).toBe(line);
    expect(sourceLine({ ...source, comps: ['main'], comment: '', disabled: true })).toBe(
      '# deb [arch=amd64] http://x.example/deb stable main',
    );
  });

  it('are found in a given file, and replaced there instead of added again', () => {
    const path = file(`${line}\n`);
    const wanted = parseSource('deb http://x.example/deb/ stable main', '') as Source;
    const found = sameSource(wanted, allSources(path));
    expect(found?.file).toBe(path);
    writeSource(path, found?.line, 'deb http://x.example/deb stable main');
    expect(readFileSync(path, 'utf8')).toBe('deb http://x.example/deb stable main\n');
  });

  it('report with Python’s message why a file cannot be written', () => {
    expect(() => writeSource('/nowhere/x.list', undefined, line)).toThrow(
      "[Errno 2] No such file or directory: '/nowhere/x.list'",
    );
  });
});
