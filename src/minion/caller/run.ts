// The call itself: finds the function, binds arguments, runs it, and maps the outcome to the output and exit codes of
// salt-call.
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { messageOf } from '../../base/errors/index.ts';
import {
  ArgumentError,
  callFunction,
  createContext,
  finished,
  isCommandNotFound,
  isHaliteError,
  isPythonTypeError,
  pythonTraceback,
  runFound,
  splitArguments,
} from '../../engine/exec/index.ts';
import { docstring, type FoundFunction } from '../../extend/loader/index.ts';
import type { JobReturn } from '../../protocol/job/job-return.ts';
import { readCallArguments } from './arguments.ts';
import type { Caller, LocalCallRequest } from './types.ts';

/** The function ran; `retcode` is absent for the documentation shown instead of a missing function. */
export interface CallOutcome {
  readonly kind: 'result';
  readonly jid: string;
  readonly return: Value;
  readonly retcode: number | undefined;
  readonly out?: string;
  /** Maps in it are printed in their own order. */
  readonly inOrder?: boolean;
  readonly funArgs: Value[];
}

/** Only a message to print. */
export interface CallFailure {
  readonly kind: 'failure';
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

const failure = (stderr: string, exitCode = 1, stdout = ''): CallFailure => ({
  kind: 'failure',
  stdout,
  stderr,
  exitCode,
});

export async function callLocally(
  caller: Caller,
  request: LocalCallRequest,
  jid: string,
): Promise<CallOutcome | CallFailure> {
  const { runtime } = caller;
  const { fun } = request;
  const found = await runtime.loader.find('modules', fun);
  if (!found) return missing(caller, request, jid);
  // As in Salt: functions called this way see these fields of a job and no others.
  const shown = newDict([
    ['pid', process.pid],
    ['fun', fun],
    ['jid', jid],
    ['tgt', 'salt-call'],
  ]);
  if (request.metadata !== undefined) shown['metadata'] = request.metadata;
  const control = request.signal ?? new AbortController().signal;
  const state = { shown, signal: control, progress: request.progress ?? (() => undefined), retcode: 0 };
  const noted = await noteRunning(caller, shown, jid);
  try {
    const read = await readArguments(found, request, shown).catch(refusedArguments);
    if ('kind' in read) return read;
    const { args, kwargs } = read;
    const value = await runFound(found, args, kwargs, createContext(runtime, state));
    const outcome = finished(value, state.retcode, found.fn.outputter);
    return {
      kind: 'result',
      jid,
      return: outcome.return,
      retcode: outcome.retcode as number,
      ...(outcome.out ? { out: outcome.out } : {}),
      ...(found.fn.inOrder ? { inOrder: true } : {}),
      funArgs: funArgsOf(request),
    };
  } catch (thrown) {
    return explain(found, fun, thrown);
  } finally {
    if (noted) await caller.procFiles.remove(jid);
  }
}

/** The result of a call as that of a job. */
export function localReturn(request: LocalCallRequest, result: CallOutcome): JobReturn {
  const { metadata } = request;
  return {
    ...{ id: request.opts.id, jid: result.jid, fun: request.fun, fun_args: result.funArgs },
    ...{ return: result.return, retcode: result.retcode ?? 1 },
    ...(result.out ? { out: result.out } : {}),
    ...(metadata === undefined ? {} : { options: { metadata } }),
  };
}

async function readArguments(found: FoundFunction<'modules'>, request: LocalCallRequest, shown: PlainDict) {
  const read = request.words
    ? readCallArguments(found.fn.params, request.words, request.noParse)
    : { args: [...(request.args ?? [])], kwargs: request.kwargs ?? newDict() };
  // Positional texts of the form `name=value` were handled above; only the marked map is left to split.
  const marked = newDict([['__kwarg__', true], ...Object.entries(read.kwargs)]);
  const { kwargs } = await splitArguments(found.fn.params, [marked], () => shown);
  return { args: read.args, kwargs };
}

function funArgsOf(request: LocalCallRequest): Value[] {
  if (request.words) return [...request.words];
  const named = Object.entries(request.kwargs ?? {});
  const args = [...(request.args ?? [])];
  return named.length > 0 ? [...args, newDict([['__kwarg__', true], ...named])] : args;
}

/** A read-only cache directory does not prevent the run; Salt warns too. */
async function noteRunning(caller: Caller, shown: PlainDict, jid: string): Promise<boolean> {
  try {
    await caller.procFiles.prepare();
    caller.procFiles.write(jid, shown);
    return true;
  } catch {
    process.stderr.write(
      `Cannot write to process directory. Do you have permissions to write to ${caller.procFiles.folder}/${jid} ?\n`,
    );
    return false;
  }
}

/** Documentation of functions with the same prefix, or the bare message on stderr. */
async function missing(caller: Caller, request: LocalCallRequest, jid: string): Promise<CallOutcome | CallFailure> {
  const { runtime } = caller;
  const signal = new AbortController().signal;
  const state = { signal, progress: () => undefined, retcode: 0 };
  const outcome = await callFunction(runtime, state, request.fun, []);
  if (typeof outcome.return !== 'string') {
    return {
      kind: 'result',
      jid,
      return: outcome.return,
      retcode: undefined,
      out: 'nested',
      funArgs: funArgsOf(request),
    };
  }
  return failure(`${outcome.return}\n`, 255);
}

/** An unknown keyword, found before the function is called: Salt prints its bare message. */
function refusedArguments(thrown: unknown): CallFailure {
  if (isHaliteError(thrown)) return failure(`${messageOf(thrown)}\n`);
  throw thrown;
}

function explain(found: FoundFunction<'modules'>, fun: string, thrown: unknown): CallFailure {
  const text = messageOf(thrown);
  if (isUsageError(thrown)) {
    return failure(`\nPassed invalid arguments: ${text}.\n\nUsage:\n`, 1, `${docstring(found.fn)}\n`);
  }
  if (isCommandNotFound(thrown)) return failure(`Command required for '${fun}' not found: ${text}\n`);
  const code = (thrown as { code?: unknown } | null)?.code;
  if (code === 'call.failed') return failure(`Error running '${fun}': ${text}\n`);
  if (isHaliteError(thrown)) return failure(`${text}\n`);
  return failure(pythonTraceback(thrown));
}

/** In Salt a function's error about its arguments is a TypeError too, and salt-call shows the usage for both. */
function isUsageError(thrown: unknown): boolean {
  if (thrown instanceof ArgumentError || isPythonTypeError(thrown)) return true;
  return isHaliteError(thrown) && thrown.code === 'call.arguments';
}
