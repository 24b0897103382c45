// Runners and wheel functions: found by the loader, run in the master, announced on the bus, stored in the history.
import { JsonText, readValue } from '../../base/codec/json/index.ts';
import { type Dict, dictSize, fieldOf, isDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { isSecretName, secretMask } from '../../base/log/redact.ts';
import { generateJid } from '../../base/util/jid.ts';
import { bindArguments } from '../../engine/exec/bind.ts';
import { execProgram } from '../../engine/exec/exec.ts';
import { pythonTraceback } from '../../engine/exec/traceback.ts';
import { checkResult } from '../../engine/state/check-result.ts';
import { createRegistry, docstring, type FoundFunction, type Loader } from '../../extend/loader/index.ts';
import type { MasterContext, MasterServices, Params, Registry } from '../../extend/sdk/index.ts';
import type { EventBus } from '../../protocol/event/bus.ts';
import { runNewTag, runReturnTag, wheelNewTag, wheelReturnTag } from '../../protocol/event/tags.ts';
import { funName, type PublishedJob } from '../../protocol/job/job.ts';
import { given } from '../../protocol/wire/messages/fields.ts';
import { runningFields } from '../../protocol/wire/messages/job.ts';
import type { JobStore } from '../../store/jobs.ts';
import { jobRecord, returnRecord } from '../../store/records.ts';

export type MasterKind = 'runners' | 'wheel';

export interface FunctionResult {
  /** JSON text only for functions that return stored data. */
  readonly ret: Value | JsonText;
  readonly success: boolean;
  readonly retcode: number;
  readonly out?: string;
  /** Nested maps are printed in their own order. */
  readonly inOrder?: boolean;
  /** The function did not return: `ret` is the reason. */
  readonly failed?: boolean;
}

export interface FunctionRun {
  readonly jid: string;
  readonly result: Promise<FunctionResult>;
}

/** Where the output of a function goes while it runs, and what cancels it. */
export interface FunctionHooks {
  readonly progress?: (text: string) => void;
  readonly print?: (text: string) => void;
  readonly signal?: AbortSignal;
  readonly user?: string;
  /** For a run of the schedule: its name there, and what else is stored with the job. */
  readonly schedule?: string;
  readonly metadata?: Dict;
}

export interface FunctionParts {
  readonly opts: { readonly raw: PlainDict };
  readonly log: Logger;
  readonly bus: Pick<EventBus, 'fire'>;
  readonly store: Pick<JobStore, 'saveJob' | 'saveReturn'>;
  readonly loader: Loader;
  /**
   * Services of the master for functions: resolved when a function runs, because the services call functions
   * themselves.
   */
  services(): MasterServices;
}

export class MasterFunctions {
  readonly #parts: FunctionParts;
  #loader: Loader;
  readonly #running = new Map<string, PlainDict>();

  constructor(parts: FunctionParts) {
    this.#parts = parts;
    this.#loader = parts.loader;
  }

  /** Extensions of users changed: runners and wheel modules are loaded again. */
  reload(): void {
    this.#loader = this.#loader.fresh();
  }

  /** Starts a function as its own job; the returned promise never rejects, a failure is in the result. */
  start(
    kind: MasterKind,
    fun: string,
    args: readonly Value[],
    kwargs: PlainDict,
    user: string,
    hooks: FunctionHooks = {},
  ): FunctionRun {
    const jid = generateJid();
    const name = `${kind === 'runners' ? 'runner' : 'wheel'}.${fun}`;
    const { schedule, metadata } = hooks;
    const fun_args = kwargsInArgs(args, withoutSecrets(kwargs));
    const job: PublishedJob = {
      ...{ jid, fun: name, arg: fun_args, tgt: 'master', tgt_type: 'list', user },
      ...(schedule === undefined ? {} : { schedule }),
      ...(metadata === undefined ? {} : { options: { metadata } }),
      extra: newDict([['fun_args', fun_args]]),
    };
    const base = newDict(Object.entries({ fun: name, jid, user, fun_args, ...given({ schedule, metadata }) }));
    this.#parts.bus.fire(kind === 'runners' ? runNewTag(jid) : wheelNewTag(jid), { ...base });
    this.#running.set(jid, runningFields({ ...job, ret: '' }, process.pid));
    const result = this.#run(kind, fun, args, kwargs, jid, { ...hooks, user }).then((outcome) => {
      this.#running.delete(jid);
      // The waiting caller gets the result first: a large one takes a while to be announced and stored.
      setImmediate(() => {
        const tag = kind === 'runners' ? runReturnTag(jid) : wheelReturnTag(jid);
        this.#parts.bus.fire(tag, {
          ...base,
          return: keptResult(name, outcome.ret, mostAnnounced),
          success: outcome.success,
        });
        this.#keep(job, outcome);
      });
      return outcome;
    });
    return { jid, result };
  }

  /** The functions that there are. */
  registry(): Registry {
    return createRegistry(this.#loader);
  }

  /** The running functions, in the form of `saltutil.running`. */
  running(): PlainDict[] {
    return [...this.#running.values()];
  }

  /** Calls a function from another one; errors propagate. */
  async call(kind: MasterKind, fun: string, args: readonly Value[], kwargs: PlainDict): Promise<Value> {
    const found = await this.#find(kind, fun);
    return readValue(await this.#invoke(kind, found, args, kwargs, '', {}, () => {}));
  }

  /** A function's parameters by name; undefined when there is no such function. */
  async paramsOf(kind: MasterKind, fun: string): Promise<Params | undefined> {
    return (await this.#loader.find(kind, fun))?.fn.params;
  }

  async #find(kind: MasterKind, fun: string): Promise<FoundFunction<MasterKind>> {
    const found = await this.#loader.find(kind, fun);
    if (!found) throw new HaliteError('call.unknown', await this.#loader.missingText(kind, fun));
    return found;
  }

  async #run(
    kind: MasterKind,
    fun: string,
    args: readonly Value[],
    kwargs: PlainDict,
    jid: string,
    hooks: FunctionHooks,
  ): Promise<FunctionResult> {
    let retcode = 0;
    let usage = '';
    try {
      const found = await this.#find(kind, fun);
      usage = docstring(found.fn);
      const ret = await this.#invoke(kind, found, args, kwargs, jid, hooks, (code) => {
        retcode = code;
      });
      const out = found.fn.outputter;
      return {
        ret,
        success: retcode === 0 && (isLookup(kind, fun) || statesSucceeded(ret)),
        retcode,
        ...(out ? { out } : {}),
        ...(found.fn.inOrder ? { inOrder: true } : {}),
      };
    } catch (error) {
      this.#parts.log.debug('master function failed', { fun, error: messageOf(error) });
      return {
        ret: failureText(`${kind.replace(/s$/, '')} ${fun}`, error, usage),
        success: false,
        retcode: 1,
        failed: true,
      };
    }
  }

  async #invoke(
    kind: MasterKind,
    found: FoundFunction<MasterKind>,
    args: readonly Value[],
    kwargs: PlainDict,
    jid: string,
    hooks: FunctionHooks,
    setRetcode: (retcode: number) => void,
  ): Promise<Value | JsonText> {
    const bound = bindArguments(found.name, found.fn.params, args, kwargs);
    const signal = hooks.signal ?? new AbortController().signal;
    const context: MasterContext = {
      opts: this.#parts.opts.raw,
      log: this.#parts.log,
      signal,
      master: this.#parts.services(),
      registry: createRegistry(this.#loader),
      job: newDict([['jid', jid], ['fun', found.fullName], ...(hooks.user ? [['user', hooks.user] as const] : [])]),
      cache: new Map(),
      call: (fun, ...more) => this.call(kind, fun, more, newDict()),
      callWith: (fun, more, named) => this.call(kind, fun, more, named),
      exec: (file, argv, options = {}) => execProgram(file, argv, options, signal),
      setRetcode,
      progress: hooks.progress ?? (() => {}),
      print: hooks.print ?? (() => {}),
    };
    return (await found.fn.run(bound as never, context)) ?? null;
  }

  /** Runner results belong to the history too, under `<master id>`; `success` is the actual outcome. */
  #keep(job: PublishedJob, outcome: FunctionResult): void {
    const { store, opts, log } = this.#parts;
    const id = String(opts.raw['id'] ?? 'master');
    const started = Date.now();
    const { retcode, success } = outcome;
    const { options, ...own } = job;
    // A scheduled run is looked up in the history; the user has already seen the result of an interactive one.
    const internal = job.schedule === undefined;
    const record = jobRecord(
      { ...own, tgt: id, tgt_type: 'list', options: { ...options, id } },
      { expected: [id], started, internal },
    );
    const ret = {
      id,
      jid: job.jid,
      fun: job.fun,
      return: keptResult(funName(job.fun), outcome.ret, mostStored),
      success,
      retcode,
    };
    const load = { ...record.load, return: ret.return, success, retcode };
    // Written in the order in which they are passed.
    Promise.all([store.saveJob(record), store.saveReturn(returnRecord(ret, load, started))]).catch((error: unknown) =>
      log.limited('store', 'error', 'a runner result could not be stored', { error: messageOf(error) }),
    );
  }
}

/** Functions that only show stored data: they succeed, whatever the outcome of the jobs. */
const lookups = /^jobs\.(list_|lookup_|print_|last_|query)/;
const isLookup = (kind: MasterKind, fun: string): boolean => kind === 'runners' && lookups.test(fun);
const [mostStored, mostAnnounced] = [100, 2000];

/** History is not stored a second time whenever it is displayed. */
function keptResult(fun: string, ret: Value | JsonText, most: number): Value {
  if (!lookups.test(fun.replace(/^runner\./, ''))) return readValue(ret);
  const entries = ret instanceof JsonText ? (ret.facts.entries ?? 0) : isDict(ret) ? dictSize(ret) : 0;
  return entries > most ? `${entries} entries, not repeated here` : readValue(ret);
}

/** Functions that apply states return results under `data`: a failed state is a failed function. */
function statesSucceeded(ret: Value | JsonText): boolean {
  const data = ret instanceof JsonText ? undefined : fieldOf(ret, 'data');
  return data === undefined || checkResult(data);
}

/** Events, history and the list of running functions are read by others: a password is not shown there. */
const withoutSecrets = (kwargs: PlainDict): PlainDict =>
  newDict(Object.entries(kwargs).map(([name, value]) => [name, isSecretName(name) ? secretMask : value]));

/** Keyword arguments are shown as one marked map at the end, as in every Salt job. */
function kwargsInArgs(args: readonly Value[], kwargs: PlainDict): Value[] {
  return Object.keys(kwargs).length > 0 ? [...args, { ...kwargs, __kwarg__: true }] : [...args];
}

function failureText(what: string, error: unknown, usage: string): string {
  if (error instanceof HaliteError) {
    const text = error.hint ? `${error.message.replace(/[^.!?:]$/, '$&.')} ${error.hint}` : error.message;
    if (error.code === 'call.arguments') return `\nPassed invalid arguments: ${text}\n\nUsage:\n${usage}`;
    return text;
  }
  return `Exception occurred in ${what}: ${pythonTraceback(error)}`;
}
