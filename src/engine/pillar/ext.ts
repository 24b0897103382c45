// External pillars: each entry of `ext_pillar` is evaluated in turn, and its data is merged.
import {
  asDict,
  type Dict,
  dictEntries,
  dictSize,
  fieldOf,
  isDict,
  newDict,
  oneOrMore,
  type PlainDict,
  type Value,
} from '../../base/codec/value.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { Params, Pillar, PillarContext, PillarRemote } from '../../extend/sdk/index.ts';
import { p } from '../../extend/sdk/index.ts';
import { matches, parseTarget } from '../../protocol/target/index.ts';
import { bindArguments } from '../exec/bind.ts';
import { renderText } from '../render/index.ts';
import type { Compilation, SourceWatcher } from './compilation.ts';
import { decryptValue } from './decrypt.ts';

/** Compiles folders from a source, and reports the files in them. */
export type RootsCompilerFor = (watch: SourceWatcher | undefined) => PillarContext['compileRoots'];

const malformed = 'The "ext_pillar" option is malformed';

/** The pillar with the data of all external sources. */
export async function externalPillar(
  compilation: Compilation,
  start: Dict,
  rootsCompiler: RootsCompilerFor,
): Promise<Dict> {
  const { opts, errors, merge, override, host } = compilation;
  const listed = opts['ext_pillar'];
  if (listed === undefined || listed === null) return start;
  if (!Array.isArray(listed)) {
    errors.add(malformed);
    return start;
  }
  let pillar = sizeOf(override) > 0 ? merge(start, override) : start;
  for (const entry of listed) {
    const sources = isDict(entry) ? dictEntries(entry) : [];
    if (sources.length === 0) {
      // As in Salt: one invalid entry makes the whole pillar empty.
      errors.add(malformed);
      return newDict();
    }
    if (isExcluded(opts['exclude_ext_pillar'], sources[0]![0])) continue;
    for (const [name, settings] of sources) {
      const { watch } = compilation;
      let files = 0;
      const counted: SourceWatcher = (source) => {
        files++;
        watch?.({ ...source, name: `${String(name)}: ${source.name}` });
      };
      const found = await askSource(compilation, String(name), settings, pillar, rootsCompiler(watch && counted));
      if (found === undefined) continue;
      pillar = merge(pillar, found);
      // Files are more precise than the name of the source.
      if (files === 0) watch?.({ name: `ext_pillar: ${String(name)}`, data: found });
    }
  }
  host.log.debug('external pillars are compiled', { minion: compilation.minionId });
  return pillar;
}

const isExcluded = (list: Value | undefined, name: Value): boolean => Array.isArray(list) && list.includes(name);

function sizeOf(dict: Dict): number {
  return dictSize(dict);
}

/** The data of one source; undefined when it has none, or fails. */
async function askSource(
  compilation: Compilation,
  name: string,
  settings: Value,
  pillar: Dict,
  compileRoots: PillarContext['compileRoots'],
): Promise<Dict | undefined> {
  const { host, errors } = compilation;
  const loaded = await host.loader.get('pillars', name);
  if (!loaded) {
    const why = host.loader.reason('pillars', name);
    host.log.error(`Specified ext_pillar interface ${name} is unavailable`, why ? { why } : {});
    return undefined;
  }
  try {
    const args = bindSettings(loaded.extension, compilation.minionId, pillar, settings);
    const context = contextOf(compilation, pillar, compileRoots);
    const found = await loaded.extension.compile(args as never, context);
    if (found === null || (isDict(found) && sizeOf(found) === 0)) return undefined;
    if (isDict(found)) return found;
    throw new Error('it did not return a map');
  } catch (error) {
    const text = `Failed to load ext_pillar ${name}: ${messageOf(error)}`;
    errors.thrown(text, `Exception caught loading ext_pillar '${name}'`, error);
    return undefined;
  }
}

/** Lets the sources of a kind update their local copies; remote → outcome. */
export async function updateSources(compilation: Compilation, kind: string, wanted: PillarRemote): Promise<Dict> {
  const { opts, host, minionId } = compilation;
  const loaded = await host.loader.get('pillars', kind);
  const listed = opts['ext_pillar'];
  const found = newDict();
  for (const entry of Array.isArray(listed) && loaded?.extension.update ? listed : []) {
    const settings = fieldOf(entry, kind);
    if (settings === undefined || !loaded?.extension.update) continue;
    const args = bindSettings(loaded.extension, minionId, newDict(), settings);
    const context = contextOf(compilation, newDict(), async () => newDict());
    Object.assign(found, await loaded.extension.update(args as never, context, wanted));
  }
  return found;
}

const leading = { minion_id: p.any(), pillar: p.any() };
const signatures = new WeakMap<Params, Params>();

/** A map gives parameters by name, a list by position, anything else is the first one. Messages are Python's. */
function bindSettings(extension: Pillar, minionId: string, pillar: Dict, settings: Value): unknown {
  const params = signatures.get(extension.params) ?? { ...leading, ...extension.params };
  signatures.set(extension.params, params);
  const byPlace = isDict(settings) ? [] : oneOrMore(settings);
  const byName: PlainDict = newDict();
  if (isDict(settings)) for (const [key, value] of dictEntries(settings)) byName[String(key)] = value;
  return bindArguments('ext_pillar', params, [minionId, pillar, ...byPlace], byName);
}

function contextOf(compilation: Compilation, pillar: Dict, compileRoots: PillarContext['compileRoots']): PillarContext {
  const { host, minionId, grains, saltenv, pillarenv, extraMinionData, givenOpts, opts, process } = compilation;
  const own = newDict(Object.entries(opts));
  // The sources see the master's own id, as in Salt.
  if (givenOpts['id'] !== undefined) own['id'] = givenOpts['id'];
  const { nodegroups } = opts;
  const groups = asDict(nodegroups);
  return {
    minionId,
    grains,
    pillar,
    opts: own,
    saltenv,
    pillarenv,
    extraMinionData,
    log: host.log,
    signal: host.signal,
    cache: process.cache,
    call: (fun, ...args) => host.functions.call(fun, args, newDict()),
    callWith: (fun, args, kwargs) => host.functions.call(fun, args, kwargs),
    exec: (file, args, options) => host.exec(file, args, options),
    match: (expression, kind) =>
      matches(parseTarget(expression, kind, { lenient: true, nodegroups: groups }), {
        id: minionId,
        grains,
        pillar,
      }) === 'match',
    render: (source, request) => renderText(host, source, request),
    decrypt: (value, renderer) => decryptValue(host, value, renderer),
    keepSecret: (text) => host.keepSecret?.(text),
    gitFolder: (request) => process.gitFolder(request),
    gitUpdate: (request) => process.gitUpdate(request),
    compileRoots,
  };
}
