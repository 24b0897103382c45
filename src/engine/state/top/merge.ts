// Merges top files of several environments into one, by `top_file_merging_strategy`.
import { asList, dictEntries, isDict, type Value } from '../../../base/codec/value.ts';
import { type ExtensionLog, RenderError } from '../../../extend/sdk/index.ts';
import { entryOf } from '../data.ts';
import type { Tops } from './gather.ts';

/** Environment → target → SLS names and match options. */
export type Top = Map<Value, Map<Value, Value>>;

export interface MergeTopOptions {
  readonly strategy: Value | undefined;
  readonly defaultTop: Value | undefined;
  readonly log: ExtensionLog;
}

export function mergeTops(tops: Tops, { strategy, defaultTop, log }: MergeTopOptions): Top {
  switch (strategy) {
    case 'same':
      return mergeSame(tops, defaultTop, log);
    case 'merge_all':
      return mergeAll(tops);
    default:
      if (strategy !== 'merge')
        log.warn(`Invalid top_file_merging_strategy '${String(strategy)}', falling back to 'merge'`);
      return mergeMerge(tops);
  }
}

type TopFile = ReadonlyMap<Value, Value>;

/** Sections of a top file; `include` is not one. */
function* sections(file: TopFile): Generator<[Value, Value]> {
  for (const [saltenv, targets] of file) if (saltenv !== 'include') yield [saltenv, targets];
}

function targetsOf(targets: Value): [Value, Value][] {
  if (isDict(targets)) return dictEntries(targets);
  // An empty list or text is not an error.
  if (targets === '' || (Array.isArray(targets) && targets.length === 0)) return [];
  throw new RenderError('Unable to render top file. No targets found.');
}

function addTargets(top: Top, saltenv: Value, targets: Value): void {
  const entries = targetsOf(targets);
  if (entries.length === 0) return;
  const section = entryOf(top, saltenv, () => new Map());
  for (const [target, states] of entries) section.set(target, states);
}

/**
 * The base top file may contain all environments; those of others only apply to their own, if base does not contain it.
 */
function mergeMerge(tops: Tops): Top {
  const top: Top = new Map();
  for (const file of tops.get('base') ?? [])
    for (const [saltenv, targets] of sections(file)) addTargets(top, saltenv, targets);
  for (const [own, files] of tops) {
    if (own === 'base') continue;
    for (const file of files) {
      for (const [saltenv, targets] of sections(file)) {
        if (saltenv === own && !top.has(saltenv)) addTargets(top, saltenv, targets);
      }
    }
  }
  return top;
}

/** Each environment's own top file, or that of `default_top` where there is none. */
function mergeSame(tops: Tops, defaultTop: Value | undefined, log: ExtensionLog): Top {
  const top: Top = new Map();
  for (const [own, files] of tops) {
    const empty = files.every((file) => file.size === 0);
    const used = empty ? (tops.get(String(defaultTop)) ?? []) : files;
    if (empty && used.every((file) => file.size === 0)) {
      log.error(
        `The '${own}' saltenv has no top file, and the fallback saltenv specified by default_top (${String(defaultTop)}) also has no top file`,
      );
      continue;
    }
    for (const file of used) {
      for (const [saltenv, targets] of sections(file)) if (saltenv === own) addTargets(top, saltenv, targets);
    }
  }
  return top;
}

/** Everything from all files; the states of a target found twice are joined. */
function mergeAll(tops: Tops): Top {
  const top: Top = new Map();
  for (const files of tops.values()) {
    for (const file of files) for (const [saltenv, targets] of sections(file)) joinTargets(top, saltenv, targets);
  }
  return top;
}

function joinTargets(top: Top, saltenv: Value, targets: Value): void {
  for (const [target, states] of targetsOf(targets)) {
    const section = entryOf(top, saltenv, () => new Map());
    const before = section.get(target);
    section.set(target, before === undefined ? states : joinStates(before, states));
  }
}

function joinStates(before: Value, now: Value): Value[] {
  const [firstMatch, first] = splitStates(before);
  const [secondMatch, second] = splitStates(now);
  const match = secondMatch ?? firstMatch;
  const joined: Value[] = match === undefined ? [...first] : [match, ...first];
  return [...joined, ...second.filter((sls) => !joined.includes(sls))];
}

function splitStates(states: Value): [Value | undefined, string[]] {
  const items = asList(states) ?? [];
  return [items.findLast(isDict), items.filter((item) => typeof item === 'string')];
}
