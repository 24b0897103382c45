// State runs for tests: a tree given as texts, rendered as plain YAML, on a minion without a master.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Dict, dictEntries, isDict, newDict, PyFloat, type Value } from '../../base/codec/value.ts';
import { loadYaml } from '../../base/codec/yaml/index.ts';
import { messageOf } from '../../base/errors/index.ts';
import { builtin } from '../../extend/loader/builtin.gen.ts';
import { Loader } from '../../extend/loader/index.ts';
import {
  type ExtensionLog,
  RenderError,
  type StateModule,
  type StateRun,
  type StateRunRequest,
} from '../../extend/sdk/index.ts';
import { callFunction, execProgram, type JobState, matchesMinion, type Outcome, type Runtime } from '../exec/index.ts';
import { type OpenSources, openRun } from './open.ts';
import type { SlsRenderer, StateFiles } from './sources.ts';

export interface TestTree {
  /** `base/top.sls` → text. */
  readonly files: Readonly<Record<string, string>>;
  readonly opts?: Readonly<Record<string, Value>>;
  readonly grains?: Dict;
  readonly pillar?: Dict;
  readonly jid?: string;
  /** State modules of the test, in addition to the built-in ones. */
  readonly states?: Readonly<Record<string, StateModule>>;
  readonly minion?: Partial<Runtime['minion']>;
}

const quiet: ExtensionLog = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** A minion in a temporary folder whose state tree is the given files; `remove` deletes the folder. */
export class YamlTreeMinion {
  readonly folder = mkdtempSync(join(tmpdir(), 'halite-state-'));
  readonly runtime: Runtime;
  readonly state: JobState;
  /** Tags of the events that were fired. */
  readonly events: [string, Dict][] = [];
  readonly progress: string[] = [];
  readonly #files: Readonly<Record<string, string>>;

  constructor(tree: TestTree) {
    this.#files = tree.files;
    const opts: Record<string, Value> = {
      id: 'm1',
      file_client: 'local',
      cachedir: join(this.folder, 'cache'),
      extension_modules: join(this.folder, 'ext'),
      state_auto_order: true,
      top_file_merging_strategy: 'merge',
      default_top: 'base',
      state_top: 'salt://top.sls',
      saltenv: null,
      test: false,
      failhard: false,
      state_events: false,
      autoload_dynamic_modules: false,
      ...tree.opts,
    };
    const grains =
      tree.grains ??
      newDict([
        ['id', 'm1'],
        ['shell', '/bin/sh'],
        ['os', 'Debian'],
      ]);
    const pillar = tree.pillar ?? newDict();
    const own = Object.entries(tree.states ?? {}).map(
      ([name, module]) => [name, { load: async () => ({ default: module }) }] as const,
    );
    const loader = new Loader({
      opts: () => opts,
      grains: () => grains,
      log: quiet,
      userCode: 'import',
      builtin: { ...builtin, states: { ...builtin['states'], ...Object.fromEntries(own) } },
    });
    this.runtime = {
      id: 'm1',
      loader,
      log: quiet,
      minion: { ...this.#services(pillar), ...tree.minion },
      opts: () => opts,
      grains: () => grains,
      pillar: () => pillar,
      exec: (file, args, options, signal) => execProgram(file, args, options, signal),
      match: (expression, kind) => matchesMinion({ id: 'm1', opts, grains, pillar }, expression, kind),
      states: (runtime, state) => ({
        open: (request) => openRun(runtime, state, request, this.#sources),
      }),
    };
    this.state = {
      job: {
        ...{ jid: tree.jid ?? '20260101000000000000', fun: 'state.apply', arg: [] },
        ...{ tgt: '*', tgt_type: 'glob' },
      },
      signal: new AbortController().signal,
      progress: (text) => void this.progress.push(text),
      retcode: 0,
    };
  }

  /** Where the tree comes from, whatever the process. */
  readonly #sources: OpenSources = { files: () => this.#tree(), renderer: () => yamlRenderer };

  open(request: StateRunRequest = {}): Promise<StateRun> {
    return openRun(this.runtime, this.state, request, this.#sources);
  }

  /** Calls an execution function as a job would; the outcome with its return code. */
  call(fun: string, args: readonly Value[] = [], kwargs: Readonly<Record<string, Value>> = {}): Promise<Outcome> {
    const named = newDict([...Object.entries(kwargs), ['__kwarg__', true]]);
    return callFunction(this.runtime, this.state, fun, [...args, named]);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  #tree(): StateFiles {
    const paths = Object.keys(this.#files);
    return {
      envs: async () => [...new Set(paths.map((path) => path.split('/', 1)[0]!))].sort(),
      fileList: async (saltenv) =>
        paths.filter((path) => path.startsWith(`${saltenv}/`)).map((path) => path.slice(saltenv.length + 1)),
      cacheFile: async (url, saltenv) => {
        const path = `${saltenv}/${url.slice('salt://'.length)}`;
        if (!Object.hasOwn(this.#files, path)) return undefined;
        const dest = join(this.folder, 'tree', path);
        mkdirSync(dirname(dest), { recursive: true });
        writeFileSync(dest, this.#files[path]!);
        return dest;
      },
    };
  }

  #services(pillar: Dict): Runtime['minion'] {
    return {
      hasMaster: false,
      running: async () => [],
      signalJob: async () => '',
      masterRequest: () => Promise.reject(new Error('there is no master here')),
      fire: async (tag, data) => {
        this.events.push([tag, data]);
        return true;
      },
      refreshGrains: async () => undefined,
      refreshPillar: async () => true,
      compilePillar: async () => pillar,
      reloadExtensions: async () => undefined,
    };
  }
}

const yamlRenderer: SlsRenderer = {
  async render({ path }) {
    return load(await readFile(path, 'utf8'));
  },
  renderText: async (text) => load(text),
};

function load(text: string): Value {
  try {
    return text.trim() === '' ? newDict() : loadYaml(text);
  } catch (error) {
    throw new RenderError(messageOf(error));
  }
}

/** The outcome of applying `base/a.sls`. */
export type Results = Record<string, Record<string, unknown>>;

/** What came of applying `base/a.sls`. */
export async function appliedOn(minion: YamlTreeMinion, opts: Readonly<Record<string, Value>> = {}): Promise<Results> {
  const run = await minion.open({ opts: { saltenv: 'base', ...opts } });
  return asJson((await run.apply.sls(['a'], {})).return) as Results;
}

export const resultOf = (results: Results, id: string): Record<string, unknown> =>
  Object.values(results).find((item) => item['__id__'] === id)!;

/** A value as JSON has it: maps as objects, whole floats as numbers. */
export function asJson(value: Value | undefined): unknown {
  if (value instanceof PyFloat) return value.value;
  if (Array.isArray(value)) return value.map(asJson);
  if (value instanceof Date || value instanceof Uint8Array) return String(value);
  if (value !== undefined && isDict(value)) {
    return Object.fromEntries(dictEntries(value).map(([key, item]) => [String(key), asJson(item)]));
  }
  return value;
}
