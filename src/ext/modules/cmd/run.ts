// Runs one command for all functions of the module and returns Salt's {pid, retcode, stdout, stderr}.

import { resolve } from 'node:path';
import {
  asNumber,
  commandError,
  type HaliteError,
  invocationError,
  type ModuleContext,
  messageOf,
  newDict,
  type PlainDict,
  pyRepr,
  pyStr,
  pythonError,
  textList,
  type Value,
} from 'halite/sdk';
import { accessSync, constants, isFile } from 'halite/sdk/fs';
import { spawn, which } from 'halite/sdk/system';
import { matchesGlob, shellSplit } from 'halite/sdk/text';
import { isEngine, renderText } from '../cp/templates.ts';
import { type Environment, environmentOf, type Identity, identityOf, workingFolder } from './environment.ts';
import { defaultShell, type RunArgs } from './params.ts';

export interface Outcome {
  pid: number;
  /** null when the call does not wait for the end of the command. */
  retcode: number | null;
  stdout: string;
  stderr: string;
}
export const outcomeDict = ({ pid, retcode, stdout, stderr }: Outcome): PlainDict =>
  newDict([
    ['pid', pid],
    ['retcode', retcode],
    ['stdout', stdout],
    ['stderr', stderr],
  ]);

/** Arguments as typed: YAML has already turned `true` into a boolean. */
const asTyped = (value: Value): string => (typeof value === 'boolean' ? String(value) : pyStr(value));

interface Prepared {
  readonly shown: string | string[];
  readonly file: string;
  readonly argv0?: string | undefined;
  readonly argv: readonly string[];
  readonly usesShell: boolean;
  readonly cwd: string;
  readonly env: Environment;
  readonly identity: Identity;
  readonly umask: number | undefined;
  readonly timeout: number | undefined;
}

/** A configured list of globs may limit the commands of operators; calls from other functions are not limited. */
function checkPermitted(shown: string | string[], ctx: ModuleContext): void {
  const line = Array.isArray(shown) ? shown.join(' ') : shown;
  const globs = (name: string): string[] => (ctx.opts[name] ? textList(ctx.opts[name]) : []);
  const refused = globs('cmd_blacklist_glob').some((glob) => matchesGlob(line, glob));
  const allowed = globs('cmd_whitelist_glob');
  if (refused || (allowed.length > 0 && !allowed.some((glob) => matchesGlob(line, glob)))) {
    throw commandError(`The shell command "${line}" is not permitted`);
  }
}

async function render(
  text: string,
  template: string,
  saltenv: string | null | undefined,
  ctx: ModuleContext,
): Promise<string> {
  if (!isEngine(template)) throw commandError(`Attempted to render file paths with unavailable engine ${template}`);
  try {
    return await renderText(text, template, saltenv ?? 'base', newDict(), ctx);
  } catch (error) {
    throw commandError(`Failed to execute cmd with error: ${messageOf(error)}`);
  }
}

function parseUmask(umask: Value | undefined): number | undefined {
  if (umask === null || umask === undefined) return undefined;
  const digits = pyStr(umask).replace(/^0+/, '');
  if (digits === '') throw commandError('Zero umask is not allowed.');
  if (!/^[0-7]+$/.test(digits)) throw commandError(`Invalid umask: '${pyStr(umask)}'`);
  return Number.parseInt(digits, 8);
}

function parseTimeout(timeout: Value | undefined): number | undefined {
  if (timeout === null || timeout === undefined || timeout === 0) return undefined;
  const seconds = asNumber(timeout);
  if (seconds === undefined)
    throw pythonError('salt.exceptions.TimedProcTimeoutError', `Error: timeout ${pyStr(timeout)} must be a number`);
  return seconds;
}

/** The program of a command without a shell; throws Salt's message when it cannot be run. */
function findProgram(argv: readonly string[], cwd: string, env: Environment, args: RunArgs): string {
  const program = argv[0] ?? '';
  const path = program.includes('/') ? resolve(cwd, program) : which(program, env['PATH']);
  if (path && isFile(path)) {
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      throw unableToRun(argv, cwd, args, `[Errno 13] Permission denied: ${pyRepr(program)}`);
    }
  }
  throw unableToRun(argv, cwd, args, `[Errno 2] No such file or directory: ${pyRepr(program)}`);
}

function unableToRun(argv: readonly string[], cwd: string, args: RunArgs, reason: string): HaliteError {
  const context = newDict([
    ['cwd', cwd],
    ['shell', false],
    ['stdout', -1],
    ['stderr', args.redirect_stderr ? -2 : -1],
    ['with_communicate', true],
    ['timeout', args.timeout ?? null],
    ['bg', args.bg ?? false],
    ['close_fds', true],
  ]);
  const shown = args.output_loglevel === 'quiet' ? 'REDACTED' : pyRepr([...argv]);
  return commandError(`Unable to run command '${shown}' with the context '${pyRepr(context)}', reason: ${reason}`);
}

async function prepare(args: RunArgs, ctx: ModuleContext): Promise<Prepared> {
  const shell = args.shell || defaultShell;
  if (!isFile(shell) || which(shell) === null) throw commandError(`The shell ${shell} is not available`);
  const identity = identityOf(args);
  let shown: string | string[] = Array.isArray(args.cmd) ? args.cmd.map(asTyped) : asTyped(args.cmd);
  let cwd = args.cwd;
  if (args.template) {
    if (typeof shown === 'string') shown = await render(shown, args.template, args.saltenv, ctx);
    if (cwd) cwd = await render(cwd, args.template, args.saltenv, ctx);
  }
  const byOperator = Boolean(args.kwargs?.['__pub_jid']);
  if (byOperator) checkPermitted(shown, ctx);
  const asked = args.python_shell ?? (byOperator || ctx.opts['cmd_safe'] === false);
  const usesShell = asked === true;
  const folder = workingFolder(cwd, identity.user);
  const env = await environmentOf(args, identity.user, shell, ctx);
  const common = { cwd: folder, env, identity, umask: parseUmask(args.umask), timeout: parseTimeout(args.timeout) };
  if (usesShell) {
    const [line = '', ...rest] = Array.isArray(shown) ? shown : [shown];
    return { ...common, shown, file: shell, argv: ['-c', line, ...rest], usesShell };
  }
  const argv = Array.isArray(shown) ? shown : shellSplit(shown);
  const file = findProgram(argv, folder, env, args);
  return { ...common, shown: argv, file, argv0: argv[0], argv: argv.slice(1), usesShell };
}

function successCodes(value: Value | undefined): number[] {
  if (value === null || value === undefined) return [0];
  const codes = textList(value).map((text) => (/^[-+]?\d+$/.test(text) ? Number(text) : Number.NaN));
  if (codes.some(Number.isNaN)) throw invocationError('success_retcodes must be a list of integers');
  return codes;
}

function isSuccess(args: RunArgs, outcome: Outcome): boolean {
  if (successCodes(args.success_retcodes).includes(outcome.retcode ?? 0)) return true;
  const inText = (texts: Value | undefined, output: string): boolean =>
    texts != null && textList(texts).some((text) => output.includes(text));
  return inText(args.success_stdout, outcome.stdout) || inText(args.success_stderr, outcome.stderr);
}

/** The shortest time between two progress messages; only the last line in between is sent. */
const progressEveryMs = 200;

/** Reports the last line of output of a long job, also when no further output follows. */
function progressOf(args: RunArgs, ctx: ModuleContext): { onOutput?: (text: string) => void; end(): void } {
  if (args.hide_output || args.output_loglevel === 'quiet') return { end: () => undefined };
  let timer: NodeJS.Timeout | undefined;
  let line = '';
  let next = 0;
  const tell = (): void => {
    timer = undefined;
    next = Date.now() + progressEveryMs;
    ctx.progress(line);
  };
  return {
    onOutput(text) {
      const last = text.trimEnd().split('\n').at(-1);
      if (!last) return;
      line = last;
      timer ??= setTimeout(tell, Math.max(0, next - Date.now()));
    },
    end: () => clearTimeout(timer),
  };
}

function startInBackground(prepared: Prepared): Promise<Outcome> {
  const { umask, file, argv, identity } = prepared;
  const wrapped: [string, string[]] =
    umask === undefined
      ? [file, [...argv]]
      : ['/bin/sh', ['-c', `umask ${umask.toString(8)}; exec "$@"`, 'sh', file, ...argv]];
  return new Promise((done, fail) => {
    const child = spawn(wrapped[0], wrapped[1], {
      cwd: prepared.cwd,
      env: prepared.env,
      uid: identity.uid,
      gid: identity.gid,
      detached: true,
      stdio: 'ignore',
    });
    child.once('error', (error) => fail(commandError(`Unable to run command: ${error.message}`)));
    child.once('spawn', () => {
      child.unref();
      done({ pid: child.pid ?? 0, retcode: null, stdout: '', stderr: '' });
    });
  });
}

/** Output and error output without white space at their ends, when requested. */
const trimmed = (text: string, args: RunArgs): string => (args.rstrip === false ? text : text.trimEnd());

function inputOf(args: RunArgs): string | undefined {
  if (args.stdin === null || args.stdin === undefined) return undefined;
  const text = args.stdin;
  return args.kwargs?.['stdin_raw_newlines'] ? text : text.replaceAll('\\n', '\n');
}

/** TextDecoder's name of an output encoding; names that Python does not know are refused. */
function encodingOf(args: RunArgs): string | undefined {
  if (!args.output_encoding) return undefined;
  const name = args.output_encoding
    .toLowerCase()
    .replace(/^cp(\d)/, 'windows-$1')
    .replaceAll('_', '-');
  // Python writes `latin-1` with a hyphen; TextDecoder has no hyphen there.
  for (const label of [name, name.replaceAll('-', '')]) {
    try {
      return new TextDecoder(label).encoding;
    } catch {
      // Try the next spelling.
    }
  }
  throw pythonError('LookupError', `unknown encoding: ${args.output_encoding}`);
}

/** Runs the command. Its return code becomes the job's return code, unless it is to be ignored. */
export async function run(args: RunArgs, ctx: ModuleContext): Promise<Outcome> {
  const prepared = await prepare(args, ctx);
  successCodes(args.success_retcodes);
  const encoding = encodingOf(args);
  if (args.output_loglevel !== 'quiet')
    ctx.log.info('running command', { command: prepared.shown, cwd: prepared.cwd, runas: args.runas });
  if (args.bg ?? args.kwargs?.['bg']) {
    ctx.setRetcode(0);
    return startInBackground(prepared);
  }
  const { identity } = prepared;
  const progress = progressOf(args, ctx);
  const result = await ctx
    .exec(prepared.file, prepared.argv, {
      argv0: prepared.argv0,
      cwd: prepared.cwd,
      env: prepared.env,
      cleanEnv: true,
      input: inputOf(args),
      timeoutMs: prepared.timeout === undefined ? undefined : prepared.timeout * 1000,
      uid: identity.uid,
      gid: identity.gid,
      groups: identity.groups,
      umask: prepared.umask,
      mergeStderr: args.redirect_stderr ?? false,
      ...(encoding === undefined ? {} : { encoding }),
      ...(progress.onOutput ? { onOutput: progress.onOutput } : {}),
    })
    .finally(() => progress.end());
  if (result.timedOut) {
    const shown = Array.isArray(prepared.shown) ? pyRepr(prepared.shown) : prepared.shown;
    // As in Salt, a timeout is only in the answer; the job's return code does not change.
    return {
      pid: result.pid,
      retcode: 1,
      stdout: `${shown} : Timed out after ${pyStr(args.timeout)} seconds`,
      stderr: '',
    };
  }
  const outcome: Outcome = {
    pid: result.pid,
    // As in Python: negative when a signal ended the command.
    retcode: result.signal === undefined ? result.retcode : -result.signal,
    stdout: trimmed(result.stdout, args),
    stderr: trimmed(result.stderr, args),
  };
  if (isSuccess(args, outcome)) outcome.retcode = 0;
  ctx.setRetcode(args.ignore_retcode ? 0 : (outcome.retcode ?? 0));
  if (outcome.retcode !== 0 && !args.ignore_retcode && args.output_loglevel !== 'quiet') {
    ctx.log.error('command failed', { command: prepared.shown, retcode: outcome.retcode });
  }
  return outcome;
}
