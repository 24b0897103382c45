// Everything a process needs to run execution functions, and the context each call gets from it.
import { type Dict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { createRegistry, type FoundFunction, type Loader } from '../../extend/loader/index.ts';
import type {
  ExecOptions,
  ExecResult,
  ExtensionLog,
  FileClient,
  MinionServices,
  ModuleContext,
  OrchestrationServices,
  Registry,
  StateServices,
} from '../../extend/sdk/index.ts';
import { assertMayCall, assertMayRun, inReader, isReadOnly, onlyReads } from '../../extend/sdk/read-only.ts';
import type { PublishedJob } from '../../protocol/job/job.ts';
import { jobFields } from '../../protocol/wire/messages/job.ts';
import { createFileClient } from '../files/client/client.ts';
import { bindArguments } from './bind.ts';
import { proxyServices } from './proxy-services.ts';
import { renderHost } from './render-host.ts';
import { createSdb } from './sdb.ts';
import { userSerializer } from './serializers.ts';

export interface Runtime {
  readonly id: string;
  readonly loader: Loader;
  readonly log: ExtensionLog;
  readonly minion: MinionServices;
  opts(): Readonly<Record<string, Value>>;
  grains(): Dict;
  pillar(): Dict;
  exec(file: string, args: readonly string[], options: ExecOptions, signal: AbortSignal): Promise<ExecResult>;
  /** Whether this minion matches a target expression. */
  match(expression: string, kind: string): Promise<boolean>;
  /**
   * The state engine for one job; it is a higher layer than this module, so the code that starts the process provides
   * it.
   */
  readonly states?: (runtime: Runtime, state: JobState) => StateServices;
  /** The master for functions that run on it; undefined on minions. */
  readonly master?: (runtime: Runtime) => OrchestrationServices | undefined;
}

/** Data of one job while it runs. */
export interface JobState {
  /** Absent when the call was not published: by `salt-call`, a renderer or a beacon. */
  readonly job?: PublishedJob;
  /** The job that functions see in that case. */
  readonly shown?: PlainDict;
  readonly signal: AbortSignal;
  readonly progress: (text: string) => void;
  retcode: number;
  /** Replaces the cache that all jobs of the process share. */
  readonly cache?: Map<string, unknown>;
}

const caches = new WeakMap<Loader, Map<string, unknown>>();
const registries = new WeakMap<Loader, Registry>();

function remembered<V>(map: WeakMap<Loader, V>, loader: Loader, make: () => V): V {
  let value = map.get(loader);
  if (value === undefined) {
    value = make();
    map.set(loader, value);
  }
  return value;
}

/** The context of one job's calls. Nested calls share it, so that `setRetcode` of an inner call applies to the job. */
export function createContext(runtime: Runtime, state: JobState): ModuleContext {
  const opts = runtime.opts();
  let files: FileClient | undefined;
  let shown: PlainDict | undefined;
  const context: ModuleContext = {
    id: runtime.id,
    opts,
    grains: runtime.grains(),
    pillar: runtime.pillar(),
    get job() {
      shown ??= shownJob(state);
      return shown;
    },
    test: opts['test'] === true,
    log: runtime.log,
    signal: state.signal,
    minion: runtime.minion,
    get files() {
      files ??= createFileClient({ opts, minion: runtime.minion, log: runtime.log, signal: state.signal });
      return files;
    },
    get states() {
      return runtime.states?.(runtime, state);
    },
    get sdb() {
      return createSdb(runtime.loader, context);
    },
    get master() {
      return runtime.master?.(runtime);
    },
    get proxy() {
      return proxyServices(runtime.minion, opts);
    },
    registry: remembered(registries, runtime.loader, () => createRegistry(runtime.loader)),
    cache: state.cache ?? remembered(caches, runtime.loader, () => new Map<string, unknown>()),
    call: (fun, ...args) => context.callWith<string>(fun, args, noKwargs),
    async callWith(fun, args, kwargs) {
      const found = await runtime.loader.find('modules', fun);
      if (!found) throw new HaliteError('call.unknown', await runtime.loader.missingText('modules', fun));
      return isReadOnly() ? runInTestMode(found, args, kwargs, context) : runFound(found, args, kwargs, context);
    },
    exec(file, args, options = {}) {
      assertMayRun(file);
      return runtime.exec(file, args, options, state.signal);
    },
    match: (expression, kind) => runtime.match(expression, kind),
    // Templates may call any function, in test mode too, as in Salt.
    async render(source, request) {
      const { renderText } = await import('../render/index.ts');
      return onlyReads(() => renderText(renderHost(runtime.loader, context), source, request));
    },
    async renderFile(path, request) {
      const { renderFile } = await import('../render/index.ts');
      return onlyReads(() => renderFile(renderHost(runtime.loader, context), path, request));
    },
    async show(data, outputter, options) {
      return (await runtime.loader.get('outputters', outputter))?.extension.render(data, options);
    },
    serializer: (name) => userSerializer(runtime.loader, name, context),
    setRetcode: (retcode) => {
      state.retcode = retcode;
    },
    progress: state.progress,
  };
  return context;
}

/** The job as functions see it: `{jid, fun, arg, tgt, tgt_type, ret, user, …}`. */
export const shownJob = ({ job, shown }: JobState): PlainDict => (job ? jobFields(job) : (shown ?? newDict()));

const noKwargs: PlainDict = Object.freeze(Object.create(null));

/** Binds and runs a function that was found. */
export async function runFound(
  found: FoundFunction<'modules'>,
  args: readonly Value[],
  kwargs: PlainDict,
  context: ModuleContext,
): Promise<Value> {
  const bound = bindArguments(found.name, found.fn.params, args, kwargs);
  return (await found.fn.run(bound as never, context)) ?? null;
}

/** In test mode a state may only call functions that read. */
async function runInTestMode(
  found: FoundFunction<'modules'>,
  args: readonly Value[],
  kwargs: PlainDict,
  context: ModuleContext,
): Promise<Value> {
  const { reads } = found.fn;
  const only =
    typeof reads === 'function'
      ? reads(bindArguments(found.name, found.fn.params, args, kwargs) as never, context)
      : reads;
  const run = (): Promise<Value> => runFound(found, args, kwargs, context);
  if (only) return inReader(found.fullName, run);
  assertMayCall(found.fullName);
  return run();
}
