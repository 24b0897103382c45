// Package sources in one-line form: /etc/apt/sources.list and sources.list.d/*.list.

import { basename } from 'node:path';
import { newDict, type PlainDict } from 'halite/sdk';
import { isFile, listDir, osError, readText, rmSync, writeFileSync } from 'halite/sdk/fs';
import { splitTimes, words } from 'halite/sdk/text';

export interface Source {
  readonly file: string;
  readonly line: string;
  readonly disabled: boolean;
  readonly type: string;
  readonly uri: string;
  readonly dist: string;
  readonly comps: string[];
  readonly architectures: string[];
  readonly signedby: string;
  /** The text after a second `#`. */
  readonly comment: string;
  /** The options in brackets, in order: `trusted` → `yes`. */
  readonly options: ReadonlyMap<string, string>;
}

/** One line of a sources file; undefined for anything that is no source. */
export function parseSource(line: string, file: string): Source | undefined {
  const match = /^\s*(#\s*)?(deb|deb-src)\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)\s*([^#]*)(?:#(.*))?/.exec(line);
  if (!match) return undefined;
  const options = new Map(words(match[3] ?? '').map((option) => splitTimes(option, '=', 1) as [string, string]));
  return {
    file,
    line: line.trim(),
    disabled: match[1] !== undefined,
    type: match[2] as string,
    uri: match[4] as string,
    dist: match[5] as string,
    comps: words(match[6] ?? ''),
    architectures: (options.get('arch') ?? '').split(',').filter(Boolean),
    signedby: options.get('signed-by') ?? '',
    comment: (match[7] ?? '').trimEnd(),
    options,
  };
}

function sourceFiles(): string[] {
  const more = listDir('/etc/apt/sources.list.d')
    .filter((name) => name.endsWith('.list'))
    .sort();
  return ['/etc/apt/sources.list', ...more.map((name) => `/etc/apt/sources.list.d/${name}`)].filter(isFile);
}

/** All sources of the system; `more` is an additional file. */
export function allSources(more?: string): Source[] {
  const known = sourceFiles();
  const files = more === undefined || known.includes(more) || !isFile(more) ? known : [...known, more];
  return files.flatMap((file) => (readText(file) ?? '').split('\n').flatMap((line) => parseSource(line, file) ?? []));
}

export const sourceDict = (source: Source): PlainDict =>
  newDict([
    ['file', source.file],
    ['comps', source.comps],
    ['disabled', source.disabled],
    ['dist', source.dist],
    ['type', source.type],
    ['uri', source.uri],
    ['line', source.line],
    ['architectures', source.architectures],
    ['signedby', source.signedby],
  ]);

const sameUri = (a: string, b: string): boolean => a.replace(/\/+$/, '') === b.replace(/\/+$/, '');

/** The source that is the same repository: type, address, distribution and, when named, one of the components. */
export function sameSource(wanted: Source, sources: readonly Source[]): Source | undefined {
  return sources.find(
    (source) =>
      source.type === wanted.type &&
      sameUri(source.uri, wanted.uri) &&
      source.dist === wanted.dist &&
      (wanted.comps.length === 0 || wanted.comps.some((component) => source.comps.includes(component))),
  );
}

/** The line that describes a source. */
export function sourceLine(source: Omit<Source, 'line' | 'file'>): string {
  const named = new Map(source.options);
  if (source.architectures.length > 0) named.set('arch', source.architectures.join(','));
  if (source.signedby) named.set('signed-by', source.signedby);
  const options = [...named].map(([key, value]) => (value === undefined ? key : `${key}=${value}`));
  const parts = [
    source.type,
    ...(options.length > 0 ? [`[${options.join(' ')}]`] : []),
    source.uri,
    source.dist,
    ...source.comps,
    ...(source.comment ? [`#${source.comment}`] : []),
  ];
  return `${source.disabled ? '# ' : ''}${parts.join(' ')}`;
}

/** Replaces, adds or (without a line) removes a line. A file that becomes empty is removed. */
export function writeSource(file: string, old: string | undefined, now: string | undefined): void {
  const before = (readText(file) ?? '').split('\n');
  const rest = before.flatMap((line) =>
    old !== undefined && line.trim() === old ? (now === undefined ? [] : [now]) : [line],
  );
  if (old === undefined && now !== undefined) {
    while (rest.at(-1) === '') rest.pop();
    rest.push(now, '');
  }
  const text = rest.join('\n');
  if (text.trim() === '' && basename(file) !== 'sources.list') {
    rmSync(file, { force: true });
    return;
  }
  try {
    writeFileSync(file, text.endsWith('\n') || text === '' ? text : `${text}\n`, { mode: 0o644 });
  } catch (error) {
    throw osError(error, file);
  }
}
