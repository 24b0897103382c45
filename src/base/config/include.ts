// Reads the files named by `default_include` and `include`, and merges them as Salt does.
import { dirname, isAbsolute, relative, resolve } from 'node:path';
import { dictEntries, dictOf, isDict, newDict, type PlainDict, type Value } from '../codec/value.ts';
import { HaliteError } from '../errors/index.ts';
import { mergeRecurse } from '../util/deep-merge.ts';
import { isInside } from '../util/safe-join.ts';
import { globFiles } from './glob.ts';
import { expandHome, joinPath } from './paths.ts';
import type { ConfigReport } from './problems.ts';
import { readConfFile } from './read-file.ts';

/** A copy of a configuration folder, with the path that the folder has where it comes from. */
export interface ConfigCopy {
  readonly folder: string;
  readonly original: string;
}

export interface IncludeRequest {
  /** The value of the option: one pattern or a list. */
  readonly include: Value | undefined;
  /** Relative patterns start at the folder of this file. */
  readonly from: string;
  /** Warns when a pattern matches nothing. */
  readonly verbose: boolean;
  /** Stop at a broken file; otherwise the file is reported and skipped. */
  readonly strict: boolean;
  readonly copy?: ConfigCopy | undefined;
}

/** Which file set an option last. */
export type Origins = Map<string, string>;

/** A bound for files that include each other. */
const maxFiles = 1000;

/** `chain` contains the files that lead here by including each other. */
export function includeConfig(
  request: IncludeRequest,
  report: ConfigReport,
  origins: Origins,
  chain: readonly string[] = [],
): PlainDict {
  let merged = newDict();
  for (const pattern of patternsOf(request.include)) {
    const expanded = expandHome(pattern);
    const path = inCopy(isAbsolute(expanded) ? expanded : joinPath(dirname(request.from), expanded), request.copy);
    if (path === undefined) {
      report.warn('include', `include: ${pattern} names files outside the configuration folder; they are not read`);
      continue;
    }
    const files = globFiles(path);
    if (files.length === 0 && request.verbose) {
      report.warn('include', `Warning parsing configuration file: "include" path/glob '${path}' matches no files`);
    }
    for (const file of files) {
      if (chain.includes(file) || report.sources.length >= maxFiles) {
        const why = chain.includes(file) ? 'it includes itself' : `more than ${maxFiles} files are included`;
        report.warn('include', `Configuration file ${file} is not read again: ${why}`, { file });
        continue;
      }
      report.note(`Including configuration from '${file}'`);
      merged = mergeFile(merged, readIncluded(file, request, report, origins, chain));
    }
  }
  return merged;
}

/** The path in the copy; undefined when it is outside. */
function inCopy(path: string, copy: ConfigCopy | undefined): string | undefined {
  if (!copy) return path;
  const place = isInside(copy.original, path) ? resolve(copy.folder, relative(copy.original, path)) : path;
  return isInside(copy.folder, place) ? place : undefined;
}

function patternsOf(include: Value | undefined): string[] {
  if (typeof include === 'string') return include === '' ? [] : [include];
  return Array.isArray(include) ? include.filter((item): item is string => typeof item === 'string') : [];
}

function readIncluded(
  file: string,
  request: IncludeRequest,
  report: ConfigReport,
  origins: Origins,
  chain: readonly string[],
): PlainDict {
  let options: PlainDict;
  try {
    options = readConfFile(file, report);
  } catch (error) {
    if (!(error instanceof HaliteError) || request.strict) throw error;
    report.add({ kind: 'syntax', level: 'error', file, message: error.message });
    return newDict();
  }
  for (const name of Object.keys(options)) origins.set(name, file);
  if (options['include']) {
    // Salt: nested files win over the file that includes them, option by option; broken ones are left out.
    const nested = { ...request, include: options['include'], from: file, strict: false };
    Object.assign(options, includeConfig(nested, report, origins, [...chain, file]));
  }
  return options;
}

/** Dicts merge, lists are joined without doubles; a schedule entry replaces the one of the same name as a whole. */
function mergeFile(merged: PlainDict, options: PlainDict): PlainDict {
  const before = merged['schedule'];
  const now = options['schedule'];
  const base = newDict(Object.entries(merged));
  if (isDict(before) && isDict(now))
    base['schedule'] = dictOf([...new Map([...dictEntries(before), ...dictEntries(now)])]);
  return newDict(dictEntries(mergeRecurse(base, options, true)) as [string, Value][]);
}
