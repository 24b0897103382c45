// What the bridge makes of users' Python files: `scenes.json results.json`, as scripts/python-coverage.mjs writes and reads them.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadMinionConfig } from '../../src/base/config/index.ts';
import { nullLogger } from '../../src/base/log/null-logger.ts';
import { createContext } from '../../src/engine/exec/index.ts';
import { providePython } from '../../src/engine/python/index.ts';
import { type Kind, Loader, type PythonDescription } from '../../src/extend/loader/index.ts';
import { openCaller } from '../../src/minion/caller/caller.ts';

interface Scene {
  readonly folder: string;
  readonly cache: string;
  readonly files: readonly (readonly [kind: string, stem: string])[];
}
interface Scenes {
  grains?: object;
  readonly executable: string;
  readonly etc: string;
  readonly scenes: readonly Scene[];
}

const [scenesFile = '', resultsFile = ''] = process.argv.slice(2);
const asked = JSON.parse(readFileSync(scenesFile, 'utf8')) as Scenes;
/** On a loaded machine an import takes long; only one that never ends is a failure here. */
const loadSeconds = 300;
const kindOf: Readonly<Record<string, string>> = { pillar: 'pillars', output: 'outputters', roster: 'rosters' };

/** The files of a scene share a process, as those that one job uses do. */
async function examine(scene: Scene): Promise<object[]> {
  const raw = {
    ...opts.raw,
    extension_modules: scene.folder,
    cachedir: asked.etc,
    python_executable: asked.executable,
    python_load_timeout: loadSeconds,
  };
  let path = '';
  let problems: string[] = [];
  const log = {
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error: (text: string) => {
      // Not those of files that this one asked for.
      const start = `${path} has a problem: `;
      if (text.startsWith(start)) problems.push(text.slice(start.length));
    },
  };
  const python = providePython({ opts: () => raw, log, workers: 'shared', printed: () => undefined });
  const signal = new AbortController().signal;
  const loader: Loader = new Loader({
    opts: () => raw,
    grains: () => caller.grains,
    log,
    userCode: 'import',
    python: python.source,
    pythonCaller: () => context(),
  });
  const runtime = { ...caller.runtime, loader, opts: () => raw };
  const context = () => createContext(runtime, { signal, progress: () => undefined, retcode: 0 });
  const host = await python.source();
  const found: object[] = [];
  for (const [kind, stem] of scene.files) {
    problems = [];
    try {
      path = pathOf(join(scene.folder, kind, stem));
      const file = { name: stem, path };
      found.push(described(await host.load((kindOf[kind] ?? kind) as Kind, file, context(), loader), problems));
    } catch (error) {
      found.push({ state: 'fails', reason: error instanceof Error ? error.message : String(error) });
    }
  }
  python.release();
  return found;
}

function pathOf(base: string): string {
  try {
    readFileSync(`${base}.py`);
    return `${base}.py`;
  } catch {
    return base;
  }
}

function described(found: PythonDescription, problems: readonly string[]): object {
  if (!found.available) {
    // What `__virtual__` and `__init__` do is a refusal, with Salt too; a file that cannot be executed is a failure.
    const broken = problems.length > 0 && !/^(?:exception: |its __init__ failed)/.test(found.reason);
    return { state: broken ? 'fails' : 'refuses', reason: broken ? problems[0] : found.reason };
  }
  const functions: Record<string, object> = {};
  for (const name of found.names)
    for (const [key, { params, doc }] of Object.entries(found.functions)) {
      const list = Object.entries(params);
      functions[`${name}.${key}`] = {
        params: list.map(([param, { kind }]) => [param, kind]),
        required: list.filter(([, { required, kind }]) => required || kind !== 'any').map(([param]) => param),
        doc,
      };
    }
  return { state: 'loads', functions };
}

mkdirSync(asked.etc, { recursive: true });
writeFileSync(join(asked.etc, 'minion'), 'id: survey\nfile_client: local\n');
const { opts } = loadMinionConfig({ configDir: asked.etc });
const caller = await openCaller({ opts, log: nullLogger as never, local: true });
const results: object[] = [];
for (const scene of asked.scenes) results.push(...(await examine(scene)));
caller.close();
writeFileSync(resultsFile, JSON.stringify({ grains: caller.grains, results }));
