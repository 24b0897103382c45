// Runs pip: which program, in which environment, as which user.

import {
  commandError,
  dictEntries,
  isDict,
  type ModuleContext,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { baseName, isDirectory, isExecutable, isFile, normalPath } from 'halite/sdk/fs';
import { which } from 'halite/sdk/system';
import { comparePythonVersions } from './pep440.ts';

/** The pip program and its user; arguments of every function. */
export const where = {
  bin_env: p.string({ default: null, falsy: null, doc: 'path of pip, of python, or of a virtual environment' }),
  user: p.string({ default: null, doc: 'run as this user' }),
  cwd: p.string({ default: null, doc: 'run in this folder' }),
};
export const useVt = p.bool({ default: false, doc: 'no effect: output is not buffered' });
export const envVars = p.oneOf(['dict', 'list', 'string'], {
  default: null,
  falsy: null,
  doc: 'environment variables',
});

export interface Where {
  readonly bin_env: Value;
  readonly user: Value;
  readonly cwd: Value;
}
export interface PipResult {
  readonly retcode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The program and its first arguments. Without `bin_env` it is the pip of the system's Python. */
function pipCommand(binEnv: Value): string[] {
  if (!binEnv) {
    const python = which('python3') ?? which('python');
    return python ? [python, '-m', 'pip'] : [which('pip3') ?? which('pip') ?? 'pip'];
  }
  const path = pyStr(binEnv);
  if (isDirectory(path)) {
    const python = ['python', 'bin/python', 'Scripts/python']
      .map((part) => `${path}/${part}`)
      .find((file) => isFile(file) && isExecutable(file));
    if (python) return [normalPath(python), '-m', 'pip'];
    throw commandError(`Could not find a pip binary in virtualenv ${path}`);
  }
  if (!isExecutable(path)) throw commandError(`Access denied to ${path}, could not find a pip binary`);
  if (!isFile(path)) throw commandError(`Could not find a pip binary within ${path}`);
  return baseName(path).includes('python') ? [normalPath(path), '-m', 'pip'] : [normalPath(path)];
}

export function environment(vars: Value): PlainDict {
  if (!vars) return newDict();
  if (!isDict(vars)) throw commandError(`env_vars ${pyStr(vars)} is not a dictionary`);
  return newDict(dictEntries(vars).map(([key, value]) => [pyStr(key), pyStr(value)]));
}

/** Runs pip with these arguments; `extra` are keywords for cmd.run_all. */
export async function runPip(
  args: readonly string[],
  at: Where,
  ctx: ModuleContext,
  vars: Value = null,
  extra: PlainDict = newDict(),
): Promise<PipResult> {
  const env = newDict(Object.entries(environment(vars)));
  if (at.bin_env && isDirectory(pyStr(at.bin_env))) env['VIRTUAL_ENV'] = pyStr(at.bin_env);
  const request = newDict([
    ['runas', at.user],
    ['cwd', at.cwd],
    ['python_shell', false],
    ...Object.entries(extra),
    ['env', { ...(isDict(extra['env'] ?? null) ? (extra['env'] as PlainDict) : {}), ...env }],
  ]);
  return (await ctx.callWith('cmd.run_all', [[...pipCommand(at.bin_env), ...args]], request)) as unknown as PipResult;
}

export const succeeded = (result: PipResult): PipResult => {
  if (result.retcode !== 0) throw commandError(result.stderr);
  return result;
};

const versionKey = (binEnv: Value): string => `pip.version${binEnv ? `.${pyStr(binEnv)}` : ''}`;

/** After pip may have replaced itself. */
export const forgetVersion = (binEnv: Value, ctx: ModuleContext): boolean => ctx.cache.delete(versionKey(binEnv));

/** The version of pip; queried once per job. */
export async function pipVersion(at: Where, ctx: ModuleContext): Promise<string | null> {
  const key = versionKey(at.bin_env);
  const known = ctx.cache.get(key);
  if (known !== undefined) return known as string | null;
  const { retcode, stdout } = await runPip(['--version'], at, ctx);
  if (retcode !== 0) throw commandError('Could not find a `pip` binary');
  const version = /^pip (\S+)/.exec(stdout)?.[1] ?? null;
  ctx.cache.set(key, version);
  return version;
}

/** Whether pip is at least this version. */
export const isAtLeast = (version: string | null, wanted: string): boolean =>
  version !== null && (comparePythonVersions(version, wanted) ?? 0) >= 0;

/** `--use-wheel` and its opposite only ever existed between these. */
export const knowsWheelOption = (version: string | null): boolean =>
  isAtLeast(version, '1.4') && (comparePythonVersions(version ?? '', '9.0.3') ?? 0) <= 0;
