// Scripts fetched from the file server or given as text: put into a temporary file, run, removed.

import { tmpdir } from 'node:os';
import { basename, extname, isAbsolute, join } from 'node:path';
import {
  cleanKwargs,
  HaliteError,
  isTruthy,
  type ModuleContext,
  newDict,
  type PlainDict,
  pyStr,
  type Value,
} from 'halite/sdk';
import { chmod, chown, closeSync, copyFile, isFile, mkdtemp, openSync, readSync, rm, writeFile } from 'halite/sdk/fs';
import { userByName } from 'halite/sdk/system';
import { shellSplit } from 'halite/sdk/text';
import { defaultShell, type RunArgs } from './params.ts';
import { outcomeDict, run } from './run.ts';

/** A script that could not be fetched. */
const cacheError = (): PlainDict =>
  newDict([
    ['pid', 0],
    ['retcode', 1],
    ['stdout', ''],
    ['stderr', ''],
    ['cache_error', true],
  ]);

/** A folder that only the running user can read; the script keeps its extension, which some programs need. */
async function privateFolder(parent: string | null | undefined, uid: number | undefined): Promise<string> {
  const folder = await mkdtemp(join(parent || tmpdir(), '.halite-'));
  if (uid !== undefined) await chown(folder, uid, -1);
  return folder;
}

async function fetchScript(source: string, target: string, args: ScriptArgs, ctx: ModuleContext): Promise<boolean> {
  const saltenv = args.saltenv ?? pyStr(ctx.opts['saltenv'] ?? 'base');
  if (args.template) {
    const made = await ctx.callWith(
      'cp.get_template',
      [source, target, args.template, saltenv],
      cleanKwargs(args.kwargs ?? newDict()),
    );
    return isTruthy(made);
  }
  const local = isAbsolute(source) ? source : await ctx.files.cacheFile(source, { saltenv });
  if (!isFile(local)) return false;
  await copyFile(local, target);
  return true;
}

export type ScriptArgs = Omit<RunArgs, 'cmd'> & { readonly source: string; readonly args: Value };

/** Whether the file begins with `#!`, or is a binary program. */
function startsWithReader(path: string): boolean {
  const file = openSync(path, 'r');
  try {
    const start = Buffer.alloc(4);
    readSync(file, start);
    return start.toString('latin1').startsWith('#!') || start.toString('latin1') === '\x7fELF';
  } finally {
    closeSync(file);
  }
}

function scriptWords(args: Value): string[] {
  if (typeof args === 'string') return shellSplit(args);
  return Array.isArray(args) ? args.map(pyStr) : isTruthy(args) ? shellSplit(pyStr(args)) : [];
}

/** Fetches a script, runs it with its arguments and removes it. */
export async function runScript(args: ScriptArgs, ctx: ModuleContext): Promise<PlainDict> {
  const uid = args.runas ? userByName(args.runas)?.uid : undefined;
  const folder = await privateFolder(args.cwd, uid);
  try {
    const name = basename(args.source.split('?')[0] ?? '');
    const path = join(folder, `script${extname(name)}`);
    if (!(await fetchScript(args.source, path, args, ctx))) return cacheError();
    await chmod(path, 0o500);
    if (uid !== undefined) await chown(path, uid, -1);
    const words = scriptWords(args.args);
    // A file without `#!` is run by the shell, because the kernel cannot start it.
    const reader = startsWithReader(path) ? [] : [args.shell || defaultShell];
    const cmd = [...reader, path, ...words];
    const outcome = await run({ ...args, cmd, template: null, python_shell: false }, ctx);
    if (args.hide_output) Object.assign(outcome, { stdout: '', stderr: '' });
    return outcomeDict(outcome);
  } catch (error) {
    // Salt: a script that cannot be started yields an empty result and a line in the log.
    if (!(error instanceof HaliteError) || error.code === 'call.unknown') throw error;
    ctx.log.error('unable to run script', { source: args.source, problem: error.message });
    return newDict();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs source text with an interpreter. */
export async function runCode(
  args: { lang: string; code: string; cwd: string | null; args: Value; kwargs: PlainDict },
  ctx: ModuleContext,
): Promise<PlainDict> {
  const runas = args.kwargs['runas'];
  const uid = typeof runas === 'string' ? userByName(runas)?.uid : undefined;
  const folder = await privateFolder(null, uid);
  try {
    const file = join(folder, 'code');
    await writeFile(file, args.code, { mode: 0o600 });
    if (uid !== undefined) await chown(file, uid, -1);
    const extra = Array.isArray(args.args) ? args.args.map(pyStr) : typeof args.args === 'string' ? [args.args] : [];
    const kwargs = { ...args.kwargs, cwd: args.cwd, python_shell: false };
    const ret = await ctx.callWith('cmd.run_all', [[args.lang, file, ...extra]], newDict(Object.entries(kwargs)));
    return ret as PlainDict;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
