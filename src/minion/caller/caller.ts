// Runs one function on this machine for salt-call: in this process, with or without a master.
import { unpackValue } from '../../base/codec/msgpack/index.ts';
import { type Dict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import { generateJid } from '../../base/util/index.ts';
import {
  collectGrains,
  createContext,
  execProgram,
  executeJob,
  matchesMinion,
  proxyServices,
  type Runtime,
  signalTree,
} from '../../engine/exec/index.ts';
import type { Device } from '../../engine/proxy/index.ts';
import { providePython } from '../../engine/python/index.ts';
import { provideStates } from '../../engine/state/provide.ts';
import { Loader, sdkUrl } from '../../extend/loader/index.ts';
import type { ReturnerRequest } from '../../protocol/job/job-return.ts';
import { returnMessage } from '../../protocol/wire/messages/job-return.ts';
import { ProcFiles } from '../jobs/proc-files.ts';
import { fetchPillar, type PillarRequest, reportPillarErrors } from '../services/pillar.ts';
import { type CallFailure, type CallOutcome, callLocally, localReturn } from './run.ts';
import { createCallerServices } from './services.ts';
import type { Caller, CallerOptions, CallerSession, LocalCallRequest } from './types.ts';

export type { Caller, CallerOptions, LocalCallRequest };

/** The output and exit code of salt-call. */
export type LocalCallResult = CallOutcome | CallFailure;

/** Collects grains and, unless local, signs in and fetches the pillar. */
export async function openCaller(options: CallerOptions): Promise<Caller> {
  const { opts, log } = options;
  const signal = options.signal ?? new AbortController().signal;
  let grains: PlainDict = newDict();
  let pillar: Dict = newDict();
  const sdk = sdkUrl();
  const python = providePython({
    opts: () => opts.raw,
    log,
    workers: 'shared',
    printed: (text, stream) => process[stream].write(text),
  });
  const loaderOptions = {
    opts: () => opts.raw,
    grains: () => grains,
    log,
    userCode: 'import' as const,
    python: python.source,
    pythonCaller: () => createContext(runtimeWith(undefined), { signal, progress: () => undefined, retcode: 0 }),
    ...(sdk ? { sdkUrl: sdk } : {}),
  };
  const compileLocally = async (request: PillarRequest): Promise<Dict> => {
    const { compilePillarLocally } = await import('../../engine/pillar/local.ts');
    return compilePillarLocally(opts.raw, grains, { log, signal, ...request });
  };
  const procFiles = new ProcFiles(opts.cachedir);
  let askDevice: ((request: PlainDict) => Promise<Value>) | undefined;
  /** With --proxyid: the device is connected in this process, as long as the command takes. */
  const openDevice = async (): Promise<Device> => {
    const [{ Device: Opened }, { settleProxy }] = await Promise.all([
      import('../../engine/proxy/index.ts'),
      import('../proxy/settings.ts'),
    ]);
    settleProxy(opts, pillar, log);
    const runtime = runtimeWith(session);
    const made = new Opened({ log, runtime: () => runtime, lost: () => undefined });
    askDevice = async (request) => unpackValue(await made.answer(request));
    await askDevice(newDict([['func', 'open']]));
    grains = await collectGrains(
      new Loader(loaderOptions),
      opts.raw,
      log,
      proxyServices({ proxy: askDevice }, opts.raw),
    );
    return made;
  };
  const runtimeWith = (session: CallerSession | undefined): Runtime => {
    const runtime: Runtime = {
      id: opts.id,
      loader: new Loader(loaderOptions),
      log,
      minion: createCallerServices({
        opts,
        session,
        procFiles,
        grains: () => grains,
        log,
        runtime: () => runtime,
        pillar: () => pillar,
        keepPillar: (fresh) => {
          pillar = fresh;
        },
        compileLocally,
        device: () => askDevice,
      }),
      opts: () => opts.raw,
      grains: () => grains,
      pillar: () => pillar,
      exec: (file, args, execOptions, abort) => execProgram(file, args, execOptions, abort, commands),
      match: (expression, kind) => matchesMinion({ id: opts.id, opts: opts.raw, grains, pillar }, expression, kind),
      states: provideStates,
    };
    return runtime;
  };
  const collecting = collectGrains(new Loader(loaderOptions), opts.raw, log);
  const evaluate = async (fun: string): Promise<Value> => {
    const job = { jid: generateJid(), fun, arg: [], tgt: '', tgt_type: 'glob' };
    const state = { job, signal, progress: () => undefined, retcode: 0 };
    const outcome = await executeJob(runtimeWith(undefined), state);
    if (outcome.success !== true) throw new HaliteError('call.failed', `master: ${fun}: ${String(outcome.return)}`);
    return outcome.return;
  };
  // Signing in needs the grains when the master accepts keys by them, or a function names the master; otherwise both run
  // at the same time.
  if ((opts.autosign_grains ?? []).length > 0 || opts.master_type === 'func') grains = await collecting;
  const known = grains;
  const [collected, session] = await Promise.all([
    collecting,
    // Without a master, no code for the connection to one is loaded.
    options.local
      ? undefined
      : (options.session ??
        import('./master.ts').then(({ openMasterSession }) => openMasterSession(opts, log, known, signal, evaluate))),
  ]);
  grains = collected;
  if (session) pillar = await fetchPillar(session.channel, opts, grains, {}, signal);
  else pillar = await (options.localPillar ?? (() => compileLocally({})))(grains);
  reportPillarErrors(pillar, log);
  const device = typeof opts.raw['proxyid'] === 'string' ? await openDevice() : undefined;
  const close = (): void => {
    void device?.close();
    python.release();
    session?.close();
  };
  return { runtime: runtimeWith(session), grains, session, procFiles, close };
}

/**
 * Child processes have their own session, so a terminal's Ctrl-C does not reach them: they are ended when this program
 * ends.
 */
const commands = (() => {
  const running = new Set<number>();
  const endAll = () => void signalTree([...running], 'SIGKILL');
  return {
    started(pid: number) {
      if (running.size === 0) process.on('exit', endAll);
      running.add(pid);
    },
    ended(pid: number) {
      running.delete(pid);
      if (running.size === 0) process.off('exit', endAll);
    },
  };
})();

/**
 * Runs a function as salt-call does. Problems that the operator can fix are returned as a failure to print, not as
 * exceptions.
 */
export async function runLocalCall(request: LocalCallRequest): Promise<LocalCallResult> {
  const jid = generateJid();
  let caller: Caller;
  try {
    caller = await openCaller(request);
  } catch (error) {
    return connectFailure(error);
  }
  try {
    const result = await callLocally(caller, request, jid);
    if (result.kind === 'result') {
      const { handToReturners } = await import('./returners.ts');
      await sendReturn(caller, request, result, await handToReturners(caller, request, result));
    }
    return result;
  } finally {
    caller.close();
  }
}

function connectFailure(error: unknown): CallFailure {
  if (error instanceof HaliteError && error.code === 'auth.pending') {
    const stdout = 'Minion failed to authenticate with the master, has the minion key been accepted?\n';
    return { kind: 'failure', stdout, stderr: `${error.message}. ${error.hint ?? ''}\n`, exitCode: 2 };
  }
  const hint = error instanceof HaliteError && error.hint ? `\n${error.hint}` : '';
  return { kind: 'failure', stdout: '', stderr: `${messageOf(error)}${hint}\n`, exitCode: 1 };
}

/** Reports the call to the master, which assigns a jid. A master that does not answer does not make the call fail. */
async function sendReturn(
  caller: Caller,
  request: LocalCallRequest,
  result: CallOutcome,
  returners: ReturnerRequest | undefined,
): Promise<void> {
  const { session } = caller;
  if (!session || request.sendReturn === false) return;
  const load = returnMessage({ ...localReturn(request, result), jid: 'req', ...(returners ? { returners } : {}) });
  const timeoutMs = request.opts.request_channel_timeout * 1000;
  await session.channel.request(load, { timeoutMs }).catch((error: unknown) => {
    request.log.warn('this call could not be reported to the master', { error: messageOf(error) });
  });
}
