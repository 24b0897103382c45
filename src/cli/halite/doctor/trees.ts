// Files in the state and pillar trees that were written for Python and do not run here: kinds that are not supported, and all of
// them on a machine without Python.
import { closeSync, type Dirent, existsSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { asList, isDict, type Value } from '../../../base/codec/value.ts';
import { listFirst } from '../../../base/util/list-first.ts';
import type { Findings } from './finding.ts';

/** Larger trees are examined only in part; the doctor must not take minutes. */
const mostFiles = 20_000;
const mostNamed = 5;
const supportedFolder =
  /^_(modules|states|grains|returners|runners|pillar|renderers|beacons|utils|sdb|wheel|auth|engines|output|tops|roster|executors|serializers|proxy)$/;
const refusedFolder = /^_(clouds|thorium|log_handlers|queues|tokens|fileserver|cache|wrapper|netapi|matchers)$/;
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
  /** Extensions of kinds that do not run in Python. */
  readonly refused: string[];
  readonly rendered: string[];
}

export type Place = 'tree' | 'extensions' | 'refused';

/** Extensions in Python, and SLS files that need a renderer in Python. */
export function pythonFiles(folders: readonly string[]): PythonFiles {
  const found: PythonFiles = { extensions: [], refused: [], rendered: [] };
  const waiting = folders.map((path): { path: string; place: Place } => ({ path, place: 'tree' }));
  let left = mostFiles;
  for (let next = waiting.shift(); next && left > 0; next = waiting.shift()) {
    for (const entry of entriesOf(next.path)) {
      if (--left < 0) break;
      const path = join(next.path, entry.name);
      if (entry.isDirectory() && entry.name !== '.git') {
        waiting.push({ path, place: next.place === 'tree' ? placeOf(entry.name) : next.place });
      } else if (next.place !== 'tree' && entry.name.endsWith('.py') && entry.name !== '__init__.py')
        found[next.place].push(path);
      else if (entry.name.endsWith('.sls') && pythonRenderer.test(firstLine(path))) found.rendered.push(path);
    }
  }
  return found;
}

/** What the files in a folder of that name are. */
export function placeOf(folder: string): Place {
  if (supportedFolder.test(folder)) return 'extensions';
  return refusedFolder.test(folder) ? 'refused' : 'tree';
}

/** `pythonPlaces`: where a Python is looked for. */
export function examineTrees(findings: Findings, roots: readonly Value[], pythonPlaces: readonly string[]): void {
  const { extensions, refused, rendered } = pythonFiles([...new Set(roots.flatMap(foldersIn))]);
  if (refused.length > 0)
    findings.warning(
      `Extensions of these kinds run in Python on Salt minions only: ${listFirst(refused, mostNamed)}`,
      'write them in TypeScript for Halite (docs/guide/extensions.md); both can exist next to each other',
    );
  if (pythonPlaces.some((path) => existsSync(path))) return;
  if (extensions.length > 0)
    findings.warning(
      `Extensions in Python need Python, which this machine does not have: ${listFirst(extensions, mostNamed)}`,
      'install python3 or set python_executable (docs/guide/your-python.md)',
    );
  if (rendered.length > 0)
    findings.warning(
      `SLS files in Python need Python, which this machine does not have: ${listFirst(rendered, mostNamed)}`,
      'install python3, set python_executable, or write them with #!jinja|yaml or #!ts (docs/guide/rendering.md)',
    );
}
