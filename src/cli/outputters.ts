// Finds an outputter by name: built-in ones by a lazy import, the operator's own through the loader.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { newDict, type Value } from '../base/codec/value.ts';
import { builtin } from '../extend/loader/builtin.gen.ts';
import type { Outputter } from '../extend/sdk/outputters.ts';

type Opts = Readonly<Record<string, Value>>;

/** Whether there may be outputters of the operator's own, which win over built-in ones. */
function hasOwn(opts: Opts): boolean {
  const folders = opts['outputter_dirs'];
  if (Array.isArray(folders) && folders.length > 0) return true;
  const modules = opts['extension_modules'];
  if (typeof modules !== 'string' || modules === '') return false;
  return statSync(join(modules, 'output'), { throwIfNoEntry: false })?.isDirectory() === true;
}

async function fromLoader(name: string, opts: Opts): Promise<Outputter | undefined> {
  const [{ Loader }, { nullLogger }] = await Promise.all([
    import('../extend/loader/index.ts'),
    import('../base/log/null-logger.ts'),
  ]);
  const loader = new Loader({ opts: () => opts, grains: () => newDict(), log: nullLogger(), userCode: 'import' });
  return (await loader.get('outputters', name))?.extension;
}

/** undefined when there is none of that name. */
export async function loadOutputter(name: string, opts: Opts): Promise<Outputter | undefined> {
  if (hasOwn(opts)) return fromLoader(name, opts);
  const table = builtin['outputters'];
  const entry = table && Object.hasOwn(table, name) ? table[name] : undefined;
  return entry ? ((await entry.load()).default as Outputter) : undefined;
}
