// A context for tests of execution modules that really runs programs and really calls the modules it is given.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import {
  type Dict,
  type ExecOptions,
  type ExecResult,
  type FileClient,
  HaliteError,
  type MinionServices,
  type Module,
  type ModuleContext,
  type ModuleFunction,
  newDict,
  type PlainDict,
  type Registry,
  type RunningJob,
  type Value,
} from 'halite/sdk';

/** Runs a program without a shell and collects what it prints. */
export function runProgram(file: string, args: readonly string[], options: ExecOptions = {}): Promise<ExecResult> {
  return new Promise((resolve, reject) => {
    // A small shell in front sets the mask and joins the streams; the program and its arguments are its parameters.
    const mask = options.umask === undefined ? '' : `umask ${options.umask.toString(8)}; `;
    const joined = options.mergeStderr ? ' 2>&1' : '';
    const [program, argv] =
      mask || joined ? ['/bin/sh', ['-c', `${mask}exec "$@"${joined}`, 'sh', file, ...args]] : [file, args];
    const child = spawn(program, argv, {
      cwd: options.cwd,
      env: options.cleanEnv ? { ...options.env } : { ...process.env, ...options.env },
      uid: options.uid,
      gid: options.gid,
      detached: true,
      // A socket as standard input makes bash believe in a remote login and read the user's start files.
      stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    let timedOut = false;
    const timer = options.timeoutMs
      ? setTimeout(() => {
          timedOut = true;
          if (child.pid) process.kill(-child.pid, 'SIGKILL');
        }, options.timeoutMs)
      : undefined;
    const read = (stream: typeof child.stdout, add: (text: string) => void): void => {
      const decoder = new TextDecoder(options.encoding);
      stream?.on('data', (piece: Buffer) => add(decoder.decode(piece, { stream: true })));
    };
    read(child.stdout, (text) => {
      stdout += text;
    });
    read(child.stderr, (text) => {
      stderr += text;
    });
    child.stdin?.on('error', () => {});
    child.stdin?.end(options.input);
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      resolve({
        pid: child.pid ?? 0,
        retcode: code ?? 128 + (signal === 'SIGKILL' ? 9 : 15),
        signal: signal ? constants.signals[signal] : undefined,
        stdout,
        stderr,
        timedOut,
      });
    });
  });
}

/** Arguments by declared parameters: positions, keywords, then defaults. */
export function bind(fn: ModuleFunction, args: readonly Value[], kwargs: PlainDict): PlainDict {
  const bound = newDict();
  const rest = [...args];
  const left = new Map(Object.entries(kwargs));
  let onlyNamed = false;
  for (const [name, param] of Object.entries(fn.params)) {
    if (param.kind === 'rest') {
      bound[name] = rest.splice(0);
      onlyNamed = true;
    } else if (param.kind === 'kwargs') {
      bound[name] = newDict(left);
      left.clear();
    } else if (!onlyNamed && rest.length > 0) bound[name] = rest.shift() as Value;
    else if (left.has(name)) {
      bound[name] = left.get(name) as Value;
      left.delete(name);
    } else if (param.required) throw new HaliteError('call.arguments', `missing argument ${name}`);
    else bound[name] = structuredClone(param.default);
  }
  if (rest.length > 0 || left.size > 0)
    throw new HaliteError('call.arguments', `unexpected arguments ${[...left.keys()]}`);
  return bound;
}

export interface TestContextOptions {
  readonly modules?: readonly Module[];
  readonly opts?: Readonly<Record<string, Value>>;
  readonly grains?: Dict;
  readonly pillar?: Dict;
  readonly job?: Readonly<Record<string, Value>>;
  readonly minion?: Partial<MinionServices>;
  readonly files?: FileClient;
  readonly registry?: Partial<Registry>;
  readonly match?: ModuleContext['match'];
  readonly render?: ModuleContext['render'];
  readonly renderFile?: ModuleContext['renderFile'];
}

export interface TestContext extends ModuleContext {
  /** The last status given to `setRetcode`. */
  readonly state: { retcode: number; progress: string[]; logged: string[] };
}

function functionsOf(modules: readonly Module[]): Map<string, ModuleFunction> {
  const found = new Map<string, ModuleFunction>();
  for (const module of modules) {
    const name = module.virtualName ?? module.name;
    for (const [key, fn] of Object.entries(module.functions)) found.set(`${name}.${key}`, fn);
    for (const [alias, key] of Object.entries(module.aliases ?? {})) {
      const fn = module.functions[key];
      if (fn) found.set(`${name}.${alias}`, fn);
    }
  }
  return found;
}

function aloneMinion(): MinionServices {
  const noMaster = (): Promise<never> =>
    Promise.reject(new HaliteError('daemon.unreachable', 'there is no master here'));
  const nothing = async (): Promise<void> => {};
  return {
    hasMaster: false,
    running: async (): Promise<RunningJob[]> => [],
    signalJob: async () => '',
    masterRequest: noMaster,
    fire: async () => false,
    refreshGrains: nothing,
    refreshPillar: async () => false,
    compilePillar: async () => newDict(),
    reloadExtensions: nothing,
  };
}

const noRenderer = (): Promise<never> =>
  Promise.reject(new HaliteError('render.failed', 'this test was given no renderer'));

/** Whatever is asked of it fails. */
const noFiles = new Proxy({} as FileClient, {
  get: () => () => Promise.reject(new HaliteError('daemon.unreachable', 'this test was given no files')),
});

function registryOf(modules: readonly Module[]): Registry {
  const functions = functionsOf(modules);
  return {
    functionNames: async (kind) => (kind === 'modules' ? [...functions.keys()].sort() : []),
    moduleNames: async (kind) =>
      kind === 'modules' ? modules.map((module) => module.virtualName ?? module.name).sort() : [],
    functionInfo: async (kind, name) => {
      const fn = kind === 'modules' ? functions.get(name) : undefined;
      return fn ? { name, doc: fn.doc, params: fn.params } : undefined;
    },
    moduleDoc: async (kind, name) =>
      kind === 'modules' ? modules.find((module) => (module.virtualName ?? module.name) === name)?.doc : undefined,
  };
}

/** A context whose commands are real; the minion behind it has no master unless services are given. */
export function testContext(options: TestContextOptions = {}): TestContext {
  const modules = options.modules ?? [];
  const functions = functionsOf(modules);
  const state: TestContext['state'] = { retcode: 0, progress: [], logged: [] };
  const note = (message: string): void => {
    state.logged.push(message);
  };
  const ctx: TestContext = {
    state,
    id: 'testminion',
    opts: options.opts ?? {},
    grains: options.grains ?? newDict(),
    pillar: options.pillar ?? newDict(),
    job: options.job ?? {},
    test: false,
    log: { debug: note, info: note, warn: note, error: note },
    signal: new AbortController().signal,
    minion: { ...aloneMinion(), ...options.minion },
    files: options.files ?? noFiles,
    registry: { ...registryOf(modules), ...options.registry },
    cache: new Map(),
    call: (fun, ...args) => ctx.callWith(fun, args, newDict()),
    async callWith(fun, args, kwargs) {
      const found = functions.get(fun);
      if (!found) throw new HaliteError('call.unknown', `'${fun}' is not available.`);
      return (await found.run(bind(found, args, kwargs) as never, ctx)) ?? null;
    },
    exec: runProgram,
    match: options.match ?? (async () => false),
    render: options.render ?? noRenderer,
    renderFile: options.renderFile ?? noRenderer,
    setRetcode(retcode) {
      state.retcode = retcode;
    },
    progress(text) {
      state.progress.push(text);
    },
  };
  return ctx;
}
