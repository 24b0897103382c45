// Finds an outputter by name: the operator's own files first, then the built-in ones, imported on use.
import { statSync } from 'node:fs';
import type { Value } from '../base/codec/value.ts';
import { messageOf } from '../base/errors/index.ts';
import { builtin } from '../extend/loader/outputters.gen.ts';
import { userFolders } from '../extend/loader/user-folders.ts';
import type { Outputter } from '../extend/sdk/outputters.ts';
import type { Terminal } from './io.ts';

type Opts = Readonly<Record<string, Value>>;

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** What `halite/sdk` resolves to in that file; undefined in a checkout that was never built. */
function sdkUrl(bundleFile: (name: string) => URL): string | undefined {
  try {
    return bundleFile('sdk').href;
  } catch {
    return undefined;
  }
}

/** An outputter of the operator; a broken file is reported and skipped. */
async function ownOutputter(
  name: string,
  folders: readonly string[],
  opts: Opts,
  io: Terminal,
): Promise<Outputter | undefined> {
  const [{ findUserFiles }, { importUserFile }, { problemWith }, { bundleFile }] = await Promise.all([
    import('../extend/loader/user-folders.ts'),
    import('../extend/loader/user-import.ts'),
    import('../extend/loader/validate.ts'),
    import('../base/util/bundle-file.ts'),
  ]);
  const file = (await findUserFiles(folders)).find((candidate) => candidate.name === name);
  if (!file) return undefined;
  if (file.python) return pythonOutputter(name, opts, io);
  try {
    const extension = await importUserFile('outputters', file, sdkUrl(bundleFile));
    const problem = problemWith('outputters', extension);
    if (problem === undefined) return extension as Outputter;
    io.err(`[ERROR   ] ${file.path}: ${problem}\n`);
  } catch (error) {
    io.err(`[ERROR   ] ${messageOf(error)}\n`);
  }
  return undefined;
}

/** One in Python runs in a process that ends with the command. */
async function pythonOutputter(name: string, opts: Opts, io: Terminal): Promise<Outputter | undefined> {
  const [{ Loader }, { providePython }, { newDict }] = await Promise.all([
    import('../extend/loader/index.ts'),
    import('../engine/python/index.ts'),
    import('../base/codec/value.ts'),
  ]);
  const say = (text: string): void => io.err(`${text}\n`);
  const log = { debug: () => undefined, info: () => undefined, warn: say, error: say };
  const python = providePython({ opts: () => opts, log, workers: 'shared' }).source;
  const loader = new Loader({ opts: () => opts, grains: newDict, log, userCode: 'import', python });
  const found = await loader.get('outputters', name);
  const why = loader.reason('outputters', name);
  if (!found && why !== undefined) io.err(`[ERROR   ] ${why}\n`);
  return found?.origin === 'built-in' ? undefined : found?.extension;
}

/** undefined when there is none of that name. */
export async function loadOutputter(name: string, opts: Opts, io: Terminal): Promise<Outputter | undefined> {
  const folders = userFolders(opts, 'outputters').filter(isFolder);
  const own = folders.length > 0 ? await ownOutputter(name, folders, opts, io) : undefined;
  if (own) return own;
  const table = builtin['outputters'];
  const entry = table && Object.hasOwn(table, name) ? table[name] : undefined;
  return entry ? ((await entry.load()).default as Outputter) : undefined;
}
