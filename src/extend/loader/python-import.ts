// Imports one user extension file in Python through the bridge.
import { HaliteError } from '../../base/errors/index.ts';
import type { Kind } from './kinds.ts';
import type { PythonCaller, PythonFinder, PythonSource } from './python.ts';
import { pythonExtension, pythonGrain, refuseKind } from './python-module.ts';
import type { UserFile } from './user-folders.ts';

export interface PythonImport {
  readonly kind: Kind;
  readonly file: UserFile;
  /** The name that is asked for. */
  readonly name: string;
  readonly python: PythonSource | undefined;
  readonly caller: () => PythonCaller;
  readonly finder: PythonFinder;
}

/**
 * The extension object; a text says why it cannot be used here (its `__virtual__`), undefined that it is called by
 * another name. Throws when there is no Python.
 */
export async function importPythonFile(asked: PythonImport): Promise<unknown> {
  const { kind, file, name, python, caller, finder } = asked;
  refuseKind(kind, file);
  if (!python)
    throw new HaliteError('extension.unavailable', `${file.path} is Python, which is not run in this process`);
  const now = caller();
  if (now.opts['python_extensions'] === false)
    throw new HaliteError('extension.unavailable', `${file.path} is Python, and python_extensions is False`);
  const host = await python();
  const parts = { kind, file, host, finder };
  if (kind === 'grains') return pythonGrain(parts);
  const described = await host.load(kind, file, now, finder).catch((error: unknown) => {
    if (!(error instanceof HaliteError)) throw error;
    throw new HaliteError(error.code, `${file.path} is Python, and ${error.message}`, { cause: error });
  });
  if (!described.available) return described.reason;
  return described.names.includes(name) ? pythonExtension(parts, described) : undefined;
}
