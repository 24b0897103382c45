// A job on many targets: as many at a time as allowed, each result as soon as it is there.
import { setMaxListeners } from 'node:events';
import { textField } from '../base/codec/fields.ts';
import { loadJson } from '../base/codec/json/load.ts';
import {
  asDict,
  type Dict,
  dictEntries,
  dictGet,
  dictOf,
  isDict,
  newDict,
  type PlainDict,
  type Value,
} from '../base/codec/value.ts';
import type { MasterOpts } from '../base/config/opts.ts';
import { messageOf } from '../base/errors/index.ts';
import type { Logger } from '../base/log/index.ts';
import { isJid } from '../base/util/jid.ts';
import type { JobReturn } from '../protocol/job/job-return.ts';
import type { MineQuery } from '../protocol/wire/messages/minion-loads.ts';
import { Askpass } from './askpass.ts';
import { plainResult, rawFunction, type SshHistory } from './history.ts';
import { type Limits, SshHost } from './host.ts';
import { deployKey } from './key-deploy.ts';
import { mineAnswer } from './mine.ts';
import { runPreFlight } from './pre-flight.ts';
import { runRaw } from './raw.ts';
import { failureOf, interrupted, type SshFailure } from './reasons.ts';
import { Receipts } from './receipts.ts';
import { Runtimes } from './runtimes.ts';
import { SshServices } from './services.ts';
import { readDone, type SshOutcome, TargetSession } from './session.ts';
import { folderFor, type SshSettings } from './settings.ts';
import { Slots } from './slots.ts';
import type { SshTarget } from './target.ts';

/** What is to run. */
export interface SshJob {
  readonly jid: string;
  readonly raw: boolean;
  readonly fun: string;
  /** As typed; used instead of `args` and `kwargs`. */
  readonly words?: readonly string[];
  readonly args?: readonly Value[];
  readonly kwargs?: Dict;
  readonly noParse?: readonly string[];
  readonly deadlineMs?: number;
}

export interface SshResult {
  readonly target: SshTarget;
  readonly outcome: SshOutcome;
  /** What is shown and stored. */
  readonly ret: Value;
  readonly retcode: number;
}

export interface RunParts {
  readonly opts: MasterOpts;
  readonly log: Logger;
  readonly settings: SshSettings;
  readonly history: SshHistory;
  readonly signal: AbortSignal;
  readonly onProgress: (id: string, text: string) => void;
  /** Targets for the mine. */
  find(tgt: string | readonly string[], kind: string): Promise<SshTarget[]>;
}

/** A target that is silent for longer no longer keeps others waiting. */
const patienceMs = 2_000;
/** Results of earlier jobs that one target may bring in one run. */
const mostKept = 100;
/** How long others wait for the mine of a target, in milliseconds for each second that its connection may take. */
const minePatience = 2_000;
/** Connections at the same time, silent ones included, as a multiple of the wanted number. */
const mostSilent = 4;

export class SshRun {
  readonly #parts: RunParts;
  readonly #askpass = new Askpass();
  readonly #runtimes: Runtimes;
  readonly #services: SshServices;
  readonly #slots: Slots;
  readonly #all: Slots;
  readonly #mineSlots: Slots;
  readonly #receipts: Receipts;
  /** Each target is asked once, however often others ask for its mine. */
  readonly #mined = new Map<string, Promise<Dict | undefined>>();
  readonly #keptBy = new Map<string, number>();
  #extensions: Promise<boolean> | undefined;
  #sdk: string | undefined;

  constructor(parts: RunParts) {
    const { opts, log, settings, signal } = parts;
    this.#parts = parts;
    // Every target listens to it.
    setMaxListeners(0, signal);
    this.#runtimes = new Runtimes(opts.cachedir, log);
    this.#services = new SshServices({
      ...{ opts, log, signal },
      mine: (query, asking) => this.#mine(query, asking),
      kept: (target, result) => this.#kept(target, result),
    });
    this.#slots = new Slots(settings.maxProcs);
    this.#all = new Slots(settings.maxProcs * mostSilent);
    this.#mineSlots = new Slots(settings.maxProcs);
    this.#receipts = new Receipts(opts.cachedir, log);
  }

  /** Results in the order in which they arrive; every target has exactly one. */
  async *run(targets: readonly SshTarget[], job: SshJob): AsyncIterable<SshResult> {
    const ready: SshResult[] = [];
    let wake = (): void => undefined;
    const work = targets.map(async (target) => {
      ready.push(await this.#one(target, job));
      wake();
    });
    for (let left = work.length; left > 0; ) {
      const next = ready.shift();
      if (next) {
        left--;
        yield next;
      } else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  }

  /** One target once more, after its key was deployed. */
  again(target: SshTarget, job: SshJob): Promise<SshResult> {
    return this.#one(target, job);
  }

  /** With the password of the target; undefined when its key is there now. */
  async deployKey(target: SshTarget): Promise<SshFailure | undefined> {
    const host = await SshHost.open(target, this.#parts.settings.client, this.#askpass);
    try {
      return await deployKey(host);
    } finally {
      host.close();
    }
  }

  async close(): Promise<void> {
    this.#askpass.close();
    await this.#services.close();
  }

  async #one(target: SshTarget, job: SshJob): Promise<SshResult> {
    const giveAll = await this.#all.take();
    const give = await this.#slots.take();
    let outcome: SshOutcome;
    try {
      outcome = await this.#outcome(target, job, give);
    } catch (error) {
      this.#parts.log.debug('a target failed', { target: target.id, error: messageOf(error) });
      outcome = { kind: 'missing', failure: failureOf('ssh-lost', messageOf(error)) };
    } finally {
      give();
      giveAll();
    }
    const { ret, retcode } = shown(outcome);
    await this.#record(target, job, outcome, ret, retcode);
    return { target, outcome, ret, retcode };
  }

  async #outcome(target: SshTarget, job: SshJob, give: () => void): Promise<SshOutcome> {
    const { settings, signal, log } = this.#parts;
    if (signal.aborted) return { kind: 'missing', failure: interrupted() };
    const begun = performance.now();
    const limits = (): Limits => ({
      signal,
      deadlineMs: job.deadlineMs && Math.max(1, job.deadlineMs - (performance.now() - begun)),
    });
    const host = await SshHost.open(target, settings.client, this.#askpass);
    const timer = setTimeout(() => {
      if (!host.connected) give();
    }, patienceMs);
    try {
      const folder = folderFor(target);
      if (target.preFlight !== '') {
        const failed = await runPreFlight({ host, folder, always: settings.runPreFlight, log, limits: limits() });
        if (failed) return failed;
      }
      if (job.raw) return await runRaw(host, job.words ?? [], limits());
      const answer = (load: PlainDict): Promise<Value> => this.#services.answer(load, target);
      const message = await this.#message(target, job);
      return await this.#session({ host, folder, message, fresh: settings.fresh, answer }).run(limits());
    } finally {
      clearTimeout(timer);
      host.close();
    }
  }

  #session(given: {
    readonly host: SshHost;
    readonly folder: string;
    readonly message: PlainDict;
    readonly fresh: boolean;
    readonly answer: (load: PlainDict) => Promise<Value>;
  }): TargetSession {
    const { log, onProgress } = this.#parts;
    const { host, folder, message, fresh, answer } = given;
    const { target } = host;
    return new TargetSession(
      {
        ...{ host, folder, runtimes: this.#runtimes, log, answer },
        onProgress: (text) => onProgress(target.id, text),
      },
      { message, fresh, wipe: this.#wipes(target) },
    );
  }

  #wipes({ keepFolder }: SshTarget): boolean {
    return this.#parts.settings.wipe && !keepFolder;
  }

  async #message(target: SshTarget, job: SshJob): Promise<PlainDict> {
    this.#extensions ??= this.#services.hasExtensions();
    const extensions = await this.#extensions;
    if (extensions) this.#sdk ??= (await this.#runtimes.program()).sha256.slice(0, 16);
    const fields: Readonly<Record<string, Value | undefined>> = {
      ...{ id: target.id, jid: job.jid, fun: job.fun, extensions, sdk: this.#sdk },
      receipt: await this.#receipts.of({ jid: job.jid, id: target.id, fun: job.fun }),
      opts: this.#optionsFor(target),
      ...(job.words ? { words: [...job.words] } : { args: [...(job.args ?? [])], kwargs: job.kwargs }),
      no_parse: job.noParse ? [...job.noParse] : undefined,
    };
    return newDict(Object.entries(fields).filter((entry): entry is [string, Value] => entry[1] !== undefined));
  }

  /** Options of the minion that runs there; the folder decides where its files are. */
  #optionsFor(target: SshTarget): Dict {
    const { settings, opts } = this.#parts;
    const grains = dictOf([...dictEntries(settings.grains), ...dictEntries(target.grains)]);
    const own: [Value, Value][] = [
      ['id', target.id],
      ['fileserver_list_cache_time', 3],
      ['log_level', opts.log_level],
      ['log_level_logfile', 'quiet'],
      ...(target.mineFunctions === null ? [] : [['mine_functions', target.mineFunctions] as [Value, Value]]),
      ...(dictEntries(grains).length > 0 ? [['grains', grains] as [Value, Value]] : []),
    ];
    return dictOf([...new Map([...dictEntries(settings.minionOpts), ...dictEntries(target.minionOpts), ...own])]);
  }

  #record(target: SshTarget, job: SshJob, outcome: SshOutcome, ret: Value, retcode: number): Promise<void> {
    const { history } = this.#parts;
    const { id } = target;
    if (outcome.kind === 'missing') {
      const { code, stderr, stdout } = outcome.failure;
      const evidence = newDict([['host', target.host]]);
      return history.missing(job.jid, id, { code, text: (stdout || stderr).trim().slice(0, 2000), evidence });
    }
    return history.returned(jobReturn(id, job, outcome, ret, retcode));
  }

  async #kept(target: SshTarget, result: PlainDict): Promise<void> {
    const [jid, fun] = [textField(result, 'jid'), textField(result, 'fun')];
    const { log } = this.#parts;
    const count = (this.#keptBy.get(target.id) ?? 0) + 1;
    this.#keptBy.set(target.id, count);
    if (count > mostKept) return;
    const receipt = textField(result, 'receipt') ?? '';
    const isOwn = isJid(jid) && fun && textField(result, 'id') === target.id;
    if (!isOwn || !(await this.#receipts.isOf(receipt, { jid, id: target.id, fun }))) {
      const about = { target: target.id, jid: isJid(jid) ? jid : '' };
      log.limited(`kept:${target.id}`, 'warn', 'a target brought a result of a job that was not sent to it', about);
      return;
    }
    const outcome = readDone(result);
    const { ret, retcode } = shown(outcome);
    log.info('the result of an earlier job was collected', { target: target.id, jid });
    await this.#parts.history.returned(jobReturn(target.id, { jid, fun, raw: false }, outcome, ret, retcode));
  }

  /** Runs the functions of `mine_functions` on the targets of the query, as Salt does. */
  async #mine(query: MineQuery, asking: SshTarget): Promise<Value> {
    const targets = await this.#parts.find(query.tgt, query.tgt_type);
    const byId = new Map<string, Dict>();
    await Promise.all(
      targets.map(async (target) => {
        const asked = this.#mined.get(target.id) ?? this.#mineOf(target).catch(() => undefined);
        this.#mined.set(target.id, asked);
        const data = await asked;
        if (data) byId.set(target.id, data);
      }),
    );
    return mineAnswer(query, asking.id, byId);
  }

  async #mineOf(target: SshTarget): Promise<Dict | undefined> {
    const give = await this.#mineSlots.take();
    const host = await SshHost.open(target, this.#parts.settings.client, this.#askpass);
    let found: Dict | undefined;
    try {
      const job: SshJob = { jid: '0', raw: false, fun: 'mine.update', args: [] };
      const message = await this.#message(target, job);
      const answer = async (load: PlainDict): Promise<Value> => {
        // A function of the mine that reads the mine would never end.
        if (load['cmd'] === '_mine_get') return newDict();
        if (load['cmd'] !== '_mine') return this.#services.answer(load, target);
        found = asDict(dictGet(load, 'data'));
        return true;
      };
      // What is removed at the end must not be what a job of this target uses meanwhile.
      const folder = this.#wipes(target) ? `${folderFor(target)}_mine` : folderFor(target);
      const session = this.#session({ host, folder, message, fresh: false, answer });
      await session.run({ signal: this.#parts.signal, deadlineMs: target.timeout * minePatience });
      return found;
    } finally {
      give();
      host.close();
    }
  }
}

function jobReturn(
  id: string,
  job: Pick<SshJob, 'jid' | 'fun' | 'raw' | 'words'>,
  outcome: SshOutcome,
  ret: Value,
  retcode: number,
): JobReturn {
  const result = outcome.kind === 'result' ? outcome : undefined;
  return {
    ...{ id, jid: job.jid, fun: job.raw ? rawFunction : job.fun, return: ret, retcode },
    success: outcome.kind === 'result' || retcode === 0,
    fun_args: result ? [...result.funArgs] : [...(job.words ?? [])],
    ...(result?.out === undefined ? {} : { out: result.out }),
  };
}

/** Salt's forms: the value, or a map of what was printed; what ssh itself says alone. */
function shown(outcome: SshOutcome): { ret: Value; retcode: number } {
  if (outcome.kind === 'result') return { ret: outcome.ret, retcode: outcome.retcode };
  const { stdout, stderr, retcode } = outcome.kind === 'text' ? outcome : outcome.failure;
  const local = outcome.kind === 'text' ? localValue(stdout) : undefined;
  if (local !== undefined) {
    const value = isDict(local) ? dictGet(local, 'return') : undefined;
    return { ret: value ?? local, retcode: codeIn(local) ?? retcode };
  }
  return { ret: stderr.startsWith('ssh:') ? stderr : plainResult(stdout, stderr, retcode), retcode };
}

/** As in Salt: a command that prints `{"local": …}` returns that. */
function localValue(stdout: string): Value | undefined {
  if (!/^\s*\{\s*"local"/.test(stdout) || Buffer.byteLength(stdout) > 1 << 24) return undefined;
  try {
    const data = loadJson(stdout);
    return isDict(data) && dictEntries(data).length === 1 ? dictGet(data, 'local') : undefined;
  } catch {
    return undefined;
  }
}

function codeIn(value: Value): number | undefined {
  const code = isDict(value) ? dictGet(value, 'retcode') : undefined;
  return typeof code === 'number' && Number.isInteger(code) ? code : undefined;
}
