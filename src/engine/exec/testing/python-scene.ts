// A bridge with files of users, for tests.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { newDict, type PlainDict, type Value } from '../../../base/codec/value.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import { Loader, type PythonCaller } from '../../../extend/loader/index.ts';
import type { ExtensionLog } from '../../../extend/sdk/index.ts';
import { type Python, providePython } from '../../python/index.ts';
import { bindArguments } from '../bind.ts';

/** Interpreters of this machine, oldest first: those of pyenv, else that of the system. */
export function interpreters(): string[] {
  const folder = join(homedir(), '.pyenv/versions');
  const versions = existsSync(folder) ? readdirSync(folder).filter((name) => /^3\.\d+\.\d+$/.test(name)) : [];
  const order = (name: string): number => Number(name.split('.')[1]);
  const found = versions.sort((a, b) => order(a) - order(b)).map((name) => join(folder, name, 'bin/python3'));
  const all = [...found.filter((path) => existsSync(path)), '/usr/bin/python3'].filter((path) => existsSync(path));
  return [...new Set(all)];
}

export interface PythonScene {
  readonly folder: string;
  readonly loader: Loader;
  readonly logged: string[];
  readonly printed: string[];
  readonly python: Python;
  readonly caller: PythonCaller & { retcode: number };
  write(files: Readonly<Record<string, string>>): void;
  call(fun: string, args?: readonly Value[], kwargs?: PlainDict): Promise<Value>;
  end(): void;
}

export interface SceneOptions {
  readonly opts?: Readonly<Record<string, Value>>;
  readonly core?: Readonly<Record<string, (...args: Value[]) => Value | Promise<Value>>>;
}

/** Files below `modules/`, `grains/` and so on; functions of `core` stand for those of Halite. */
export function pythonScene(files: Readonly<Record<string, string>>, options: SceneOptions = {}): PythonScene {
  const folder = mkdtempSync(join(tmpdir(), 'halite-python-'));
  const opts = { extension_modules: join(folder, 'ext'), cachedir: folder, id: 'mini', ...options.opts };
  const logged: string[] = [];
  const printed: string[] = [];
  const at =
    (level: string) =>
    (text: string, fields: Readonly<Record<string, unknown>> = {}): void =>
      void logged.push(`${level} ${String(fields['logger'] ?? '')} ${text}`);
  const log: ExtensionLog = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  const python = providePython({
    opts: () => opts,
    log,
    workers: 'shared',
    printed: (text, stream) => void printed.push(`${stream}: ${text}`),
  });
  const core = options.core ?? {};
  const loader: Loader = new Loader({
    opts: () => opts,
    grains: () => newDict([['os', 'Debian']]),
    log,
    userCode: 'import',
    python: python.source,
    pythonCaller: () => caller,
    builtin: { modules: { core: { load: async () => ({ default: coreModule(core) }) } } },
  });
  const caller = {
    opts,
    grains: newDict([['os', 'Debian']]),
    pillar: newDict([['secret', 's']]),
    retcode: 0,
    setRetcode(code: number) {
      caller.retcode = code;
    },
    callWith: async (fun: string, args: readonly Value[], kwargs: PlainDict) => {
      const found = await loader.find('modules', fun);
      if (!found) throw new HaliteError('call.unknown', await loader.missingText('modules', fun));
      const bound = bindArguments(found.name, found.fn.params, args, kwargs);
      return ((await found.fn.run(bound as never, caller as never)) ?? null) as Value;
    },
  };
  const write = (more: Readonly<Record<string, string>>): void => {
    for (const [name, text] of Object.entries(more)) {
      const path = join(folder, 'ext', name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    }
  };
  write(files);
  return {
    ...{ folder, loader, logged, printed, python, caller, write },
    call: (fun, args = [], kwargs = newDict()) => caller.callWith(fun, args, kwargs),
    end() {
      python.release();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function coreModule(core: NonNullable<SceneOptions['core']>): unknown {
  const functions = Object.entries(core).map(([name, run]) => [
    name,
    {
      doc: `Documentation of ${name}.`,
      examples: [],
      params: { args: { kind: 'rest', doc: '', required: false, default: null, aliases: [] } },
      inline: false,
      outputter: undefined,
      run: ({ args }: { args: Value[] }) => run(...args),
    },
  ]);
  return { kind: 'modules', name: 'core', doc: '', functions: Object.fromEntries(functions) };
}
