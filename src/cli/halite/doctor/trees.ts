// Files in the state and pillar trees that were written for Python and do not run here.
import { closeSync, type Dirent, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { asList, isDict, type Value } from '../../../base/codec/value.ts';
import { listFirst } from '../../../base/util/list-first.ts';
import type { Findings } from './finding.ts';

/** Larger trees are examined only in part; the doctor must not take minutes. */
const mostFiles = 20_000;
const mostNamed = 5;
const extensionFolder =
  /^_(modules|states|grains|returners|runners|pillar|renderers|beacons|utils|output|sdb|tops|wheel)$/;
const pythonRenderer = /^#!.*\b(py|pyobjects|pydsl|mako|wempy|cheetah|genshi)\b/;

function foldersIn(roots: Value): string[] {
  if (!isDict(roots) || roots instanceof Map) return [];
  const all = Object.values(roots).flatMap((folders) => asList(folders) ?? []);
  return all.filter((folder): folder is string => typeof folder === 'string' && folder.startsWith('/'));
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function firstLine(path: string): string {
  const buffer = Buffer.alloc(200);
  try {
    const file = openSync(path, 'r');
    try {
      return buffer.toString('utf8', 0, readSync(file, buffer, 0, buffer.length, 0)).split('\n')[0] ?? '';
    } finally {
      closeSync(file);
    }
  } catch {
    return '';
  }
}

export interface PythonFiles {
  readonly extensions: string[];
  readonly rendered: string[];
}

/** Extensions in Python, and SLS files that need a renderer in Python. */
export function pythonFiles(folders: readonly string[]): PythonFiles {
  const found: PythonFiles = { extensions: [], rendered: [] };
  const waiting = folders.map((path) => ({ path, extension: false }));
  let left = mostFiles;
  for (let next = waiting.shift(); next && left > 0; next = waiting.shift()) {
    for (const entry of entriesOf(next.path)) {
      if (--left < 0) break;
      const path = join(next.path, entry.name);
      if (entry.isDirectory() && entry.name !== '.git') {
        waiting.push({ path, extension: next.extension || extensionFolder.test(entry.name) });
      } else if (next.extension && entry.name.endsWith('.py') && entry.name !== '__init__.py')
        found.extensions.push(path);
      else if (entry.name.endsWith('.sls') && pythonRenderer.test(firstLine(path))) found.rendered.push(path);
    }
  }
  return found;
}

export function examineTrees(findings: Findings, roots: readonly Value[]): void {
  const { extensions, rendered } = pythonFiles([...new Set(roots.flatMap(foldersIn))]);
  if (extensions.length > 0)
    findings.warning(
      `Extensions in Python run on Salt minions only: ${listFirst(extensions, mostNamed)}`,
      'write them in TypeScript for Halite minions (docs/guide/extensions.md); both can exist next to each other',
    );
  if (rendered.length > 0)
    findings.warning(
      `SLS files for renderers in Python cannot be rendered: ${listFirst(rendered, mostNamed)}`,
      'write them with #!jinja|yaml or #!ts (docs/guide/rendering.md)',
    );
}
