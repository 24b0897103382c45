// Execution functions for pillar templates: they run on the master, with the minion's id and grains.
import { type Dict, newDict, type PlainDict } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { Loader } from '../../extend/loader/index.ts';
import type { ExtensionLog, MinionServices } from '../../extend/sdk/index.ts';
import { createContext, execProgram, matchesMinion, type Runtime } from '../exec/index.ts';
import type { SaltFunctions } from '../render/index.ts';

export interface FunctionParts {
  readonly loader: Loader;
  readonly log: ExtensionLog;
  readonly signal?: AbortSignal | undefined;
}

/** Created for one compilation; nothing is loaded before a template calls a function. */
export function pillarFunctions(parts: FunctionParts, opts: PlainDict, grains: Dict): SaltFunctions {
  // Which modules are available depends on the minion's grains, so each minion has its own loader; imports are shared
  // anyway.
  let loader: Loader | undefined;
  const modules = (): Loader => (loader ??= parts.loader.fresh({ opts: () => opts, grains: () => grains }));
  const signal = parts.signal ?? new AbortController().signal;
  const id = String(opts['id']);
  const pillar = newDict();
  const runtime = (): Runtime => ({
    id,
    loader: modules(),
    log: parts.log,
    minion: withoutMaster,
    opts: () => opts,
    grains: () => grains,
    pillar: () => pillar,
    exec: (file, args, options, abort) => execProgram(file, args, options, abort),
    match: (expression, kind) => matchesMinion({ id, opts, grains, pillar }, expression, kind),
  });
  let context: ReturnType<typeof createContext> | undefined;
  return {
    modules: async () => new Set(await modules().names('modules')),
    has: async (fun) => (await modules().find('modules', fun)) !== undefined,
    call(fun, args, kwargs) {
      context ??= createContext(runtime(), { signal, progress: () => undefined, retcode: 0 });
      return context.callWith(fun, args, kwargs);
    },
  };
}

const noMaster = (): never => {
  throw new HaliteError('daemon.unreachable', 'A pillar template runs on the master itself and has no master to ask');
};

const withoutMaster: MinionServices = {
  hasMaster: false,
  running: async () => [],
  signalJob: async () => '',
  masterRequest: async () => noMaster(),
  fire: async () => false,
  refreshGrains: async () => undefined,
  refreshPillar: async () => false,
  compilePillar: async () => newDict(),
  reloadExtensions: async () => undefined,
};
