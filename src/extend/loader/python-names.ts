// The names that a Python file may have, read from its text: most files need no Python to be found.
import { readFile, stat } from 'node:fs/promises';

export interface PythonNames {
  /** Every name it may provide, the most likely first. */
  readonly names: readonly string[];
  /** Its `__virtual__` computes the name: it may have any. */
  readonly dynamic: boolean;
}

const largest = 4 * 1024 * 1024;
const text = String.raw`(['"])([\w.-]+)\1`;
const virtualName = new RegExp(String.raw`^__virtualname__\s*=\s*${text}`, 'm');
const aliases = /^__virtual_aliases__\s*=\s*[([]([^)\]]*)[)\]]/m;
const virtualBody = /^def\s+__virtual__\s*\([^)]*\)[^:\n]*:[^\n]*\n((?:[ \t]+[^\n]*\n|[ \t]*#[^\n]*\n|\s*\n)*)/m;
const returned = /^[ \t]+return\s+(.+?)\s*(?:#.*)?$/gm;

/** From the text of a file; `stem` is its name without the extension. */
export function namesInText(stem: string, source: string): PythonNames {
  const names = new Set<string>();
  const declared = virtualName.exec(source)?.[2];
  const body = virtualBody.exec(`${source}\n`)?.[1];
  let dynamic = false;
  if (body === undefined || declared === undefined) names.add(stem);
  if (declared !== undefined && body !== undefined) names.add(declared);
  for (const [, answer = ''] of (body ?? '').matchAll(returned)) {
    const literals = literalsOf(answer);
    if (literals === undefined) dynamic = true;
    for (const name of literals ?? []) names.add(name);
  }
  const listed = aliases.exec(source)?.[1] ?? '';
  for (const [, , name] of listed.matchAll(new RegExp(text, 'g'))) names.add(name!);
  if (names.size === 0) names.add(stem);
  return { names: [...names], dynamic };
}

/** The names that a `return` of `__virtual__` can give; undefined when only running it tells. */
function literalsOf(answer: string): string[] | undefined {
  if (/^(?:True|False|None|__virtualname__)$/.test(answer)) return [];
  if (/^[([]\s*False\b/.test(answer)) return [];
  const plain = new RegExp(`^${text}$`).exec(answer)?.[2];
  if (plain !== undefined) return [plain];
  const choice = /^(.+?)\s+if\s+.+\s+else\s+(.+)$/.exec(answer);
  if (choice) {
    const both = [literalsOf(choice[1]!), literalsOf(choice[2]!)];
    return both.every((part) => part !== undefined) ? both.flat() : undefined;
  }
  // A comparison or a call gives true or false far more often than a name.
  return /^(?:not\s|bool\(|[\w.]+\s+(?:in|is|==|!=)\s|'[^']*'\s+in\s|"[^"]*"\s+in\s|HAS_\w+$|has_\w+$)/i.test(answer)
    ? []
    : undefined;
}

interface Known {
  readonly version: string;
  readonly found: PythonNames;
}
const known = new Map<string, Known>();
const mostKnown = 2000;

/** The same for a file, or for a folder with `__init__.py`; remembered until the file changes. */
export async function pythonNames(stem: string, path: string): Promise<PythonNames & { readonly version: string }> {
  const source = path.endsWith('.py') ? path : `${path}/__init__.py`;
  const { mtimeMs, size } = await stat(source);
  const version = `${mtimeMs}-${size}`;
  const before = known.get(source);
  if (before?.version === version) return { ...before.found, version };
  const content = size > largest ? '' : await readFile(source, 'utf8');
  const found = namesInText(stem, content);
  if (known.size >= mostKnown) known.clear();
  known.set(source, { version, found });
  return { ...found, version };
}
