// One compilation: its options, folders, renderers and errors, shared by the steps.
import { asList, type Dict, isDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { ignoreRules } from '../files/ignore.ts';
import type { RenderHost } from '../render/index.ts';
import { PillarErrors } from './errors.ts';
import { type Merge, mergerOf } from './merge.ts';
import { pillarOpts } from './opts.ts';
import { PillarRoots } from './roots.ts';
import type { PillarHost, PillarRequest } from './types.ts';

/** Called with each file and its data, in the order of merging. */
export type SourceWatcher = (source: PillarSource) => void;

export interface PillarSource {
  /** An SLS name, or `ext_pillar: name`. */
  readonly name: string;
  readonly saltenv?: string;
  readonly path?: string;
  /** Its own data, without what it includes. */
  readonly data: Value;
  /** The path of keys below which its data is merged (`key` of an include). */
  readonly under?: readonly string[];
  /** The text that its last renderer read, when that was YAML. */
  readonly yaml?: string;
  readonly includedBy?: string;
}

export interface Compilation {
  readonly minionId: string;
  readonly grains: Dict;
  readonly saltenv: string | undefined;
  readonly pillarenv: string | undefined;
  readonly override: Dict;
  readonly extraMinionData: Dict;
  /** Options as given, with the master's own id. */
  readonly givenOpts: Readonly<Record<string, Value>>;
  readonly opts: PlainDict;
  readonly roots: PillarRoots;
  readonly errors: PillarErrors;
  readonly merge: Merge;
  readonly host: RenderHost;
  readonly process: PillarHost;
  readonly watch: SourceWatcher | undefined;
}

export function startCompilation(
  process: PillarHost,
  given: Readonly<Record<string, Value>>,
  request: PillarRequest,
  watch?: SourceWatcher,
): Compilation {
  const errors = new PillarErrors(process.log);
  const log = errors.maskedLog();
  const { opts, roots, saltenv, pillarenv } = pillarOpts(given, request, log);
  const rules = (option: string): string[] => (asList(given[option]) ?? []).map(String);
  const ignored = ignoreRules(rules('file_ignore_regex'), rules('file_ignore_glob'));
  const source = new PillarRoots(roots, (name) => ignored(name));
  const { grains, minionId } = request;
  const host: RenderHost = {
    loader: process.loader,
    log,
    files: source,
    functions: process.functions(opts, grains),
    opts,
    grains,
    pillar: newDict(),
    signal: process.signal,
    exec: process.exec,
    keepSecret: (text) => errors.keepSecret(text),
  };
  return {
    ...{ minionId, grains, saltenv, pillarenv, givenOpts: given, opts, roots: source, errors, host, process, watch },
    override: dictOr(request.override, () => log.error('Pillar data must be a dictionary')),
    extraMinionData: dictOr(request.extraMinionData, () => log.error('Extra minion data must be a dictionary')),
    merge: mergerOf(given, (text) => log.warn(text)),
  };
}

/** The same compilation with data that templates see as `pillar`. */
export function withPillar(compilation: Compilation, pillar: Dict): Compilation {
  const opts = newDict(Object.entries(compilation.opts));
  opts['pillar'] = pillar;
  return { ...compilation, opts, host: { ...compilation.host, opts, pillar } };
}

function dictOr(value: Value | undefined, wrong: () => void): Dict {
  if (value !== undefined && isDict(value)) return value;
  const isNothing = value === undefined || value === null || value === false || value === '' || value === 0;
  if (!isNothing && !(Array.isArray(value) && value.length === 0)) wrong();
  return newDict();
}
