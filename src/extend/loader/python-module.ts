// Converts a user's Python file, as the bridge describes it, to the same objects that the define… helpers create.
import { dictEntries, isDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { ExtensionFunction, Params, StateContext } from '../sdk/index.ts';
import { hasFunctions, type Kind } from './kinds.ts';
import { plainAuth } from './plain-auth.ts';
import { plainBeacon } from './plain-beacon.ts';
import { plainReturner } from './plain-returner.ts';
import type { Described, PythonCaller, PythonParts } from './python.ts';
import { callArguments } from './python-arguments.ts';
import { engineOf, executorOf, outputterOf, rosterOf, sdbOf, serializerOf, topsOf } from './python-others.ts';
import { pythonProxy } from './python-proxy.ts';
import type { UserFile } from './user-folders.ts';

/** Kinds that Python files can be of; others are refused by name. */
const supported: ReadonlySet<Kind> = new Set<Kind>([
  ...(['modules', 'states', 'runners', 'wheel', 'grains', 'returners', 'beacons', 'auth'] as const),
  ...(['renderers', 'pillars', 'sdb', 'engines', 'proxies', 'tops', 'rosters', 'outputters', 'executors'] as const),
  'serializers',
]);

export function refuseKind(kind: Kind, file: UserFile): void {
  if (supported.has(kind)) return;
  throw new HaliteError(
    'extension.unavailable',
    `${file.path} is Python, which Halite does not run for ${kind}: write it in TypeScript (docs/guide/extensions.md)`,
  );
}

/** Every function of the file gives grains; they run only when grains are collected. */
export function pythonGrain({ file, host, finder }: PythonParts): unknown {
  return {
    kind: 'grains',
    name: file.name,
    doc: '',
    // After the built-in ones, whose grains they may read or replace; as with Salt, `core` is the first of them.
    priority: file.name === 'core' ? 999 : 1000,
    // The file itself says it, where it runs.
    proxies: ['*'],
    collect: (ctx: PythonCaller, soFar: PlainDict) =>
      host.collect(file, Object.assign(Object.create(ctx) as PythonCaller, { grains: soFar }), finder),
  };
}

export function pythonExtension(parts: PythonParts, described: Described): unknown {
  const { kind, file } = parts;
  const base = { kind, name: file.name, virtualName: described.name, doc: described.doc };
  if (hasFunctions(kind)) return { ...base, functions: functionsOf(parts, described), ...hooksOf(parts, described) };
  const exports = exportsOf(parts, described);
  switch (kind) {
    case 'returners':
      return named(plainReturner(file.name, exports, ''), described);
    case 'beacons':
      return named(plainBeacon(file.name, exports, ''), described);
    case 'auth':
      return named(plainAuth(file.name, exports, ''), described);
    case 'renderers':
      return { ...base, input: 'any', output: 'same', render: rendererOf(parts, described) };
    case 'pillars':
      return { ...base, params: pillarParams, compile: pillarOf(parts, described) };
    case 'tops':
      return { ...base, ...topsOf(parts, described) };
    case 'rosters':
      return { ...base, ...rosterOf(parts, described) };
    case 'outputters':
      return { ...base, ...outputterOf(parts, described) };
    case 'executors':
      return { ...base, ...executorOf(parts, described) };
    case 'serializers':
      return { ...base, ...serializerOf(parts, described) };
    case 'engines':
      return { ...base, ...engineOf(parts, described) };
    case 'proxies':
      return pythonProxy(parts, described);
    case 'sdb':
      return { ...base, ...sdbOf(parts, described) };
    default:
      return undefined;
  }
}

const named = (extension: object | undefined, described: Described): unknown =>
  extension && { ...extension, virtualName: described.name, doc: described.doc };

function functionsOf(parts: PythonParts, described: Described): Record<string, ExtensionFunction<PythonCaller>> {
  const functions: Record<string, ExtensionFunction<PythonCaller>> = Object.create(null);
  for (const [name, found] of Object.entries(described.functions)) {
    if (parts.kind === 'states' && (name === 'mod_init' || name === 'mod_aggregate')) continue;
    functions[name] = {
      doc: found.doc,
      rawDoc: true,
      examples: [],
      params: found.params,
      inline: false,
      outputter: found.outputter,
      run: (args, ctx) => {
        const call = callArguments(found.params, args);
        return parts.host.run({ ...parts, fun: name, ...call }, ctx, parts.finder);
      },
    };
  }
  return functions;
}

/** `mod_watch`, `mod_init` and `mod_aggregate` of a state module. */
function hooksOf(parts: PythonParts, { functions }: Described): object {
  if (parts.kind !== 'states') return {};
  const run = (fun: string, args: readonly Value[], ctx: StateContext): Promise<Value> =>
    parts.host.run({ ...parts, fun, args, kwargs: newDict() }, ctx, parts.finder);
  return {
    ...(functions['mod_init'] && {
      modInit: async (low: PlainDict, ctx: StateContext) => (await run('mod_init', [low], ctx)) === true,
    }),
    ...(functions['mod_aggregate'] && {
      modAggregate: async (low: PlainDict, chunks: readonly PlainDict[], running: PlainDict, ctx: StateContext) => {
        const changed = await run('mod_aggregate', [low, [...chunks], newDict(Object.entries(running))], ctx);
        return isDict(changed) ? newDict(dictEntries(changed) as [string, Value][]) : low;
      },
    }),
  };
}

type Exported = (this: PythonCaller, ...args: Value[]) => Promise<Value>;

/** The functions as plain ones with the context as `this`, which is how files of other kinds are read. */
function exportsOf(parts: PythonParts, described: Described): Record<string, Exported> {
  const exports: Record<string, Exported> = Object.create(null);
  for (const name of [...Object.keys(described.functions), ...described.hooks]) {
    const shown = name === '__validate__' ? 'validate' : name;
    const most = mostArguments(described.functions[name]?.params);
    exports[shown] ??= function (this: PythonCaller, ...args) {
      return parts.host.run({ ...parts, fun: name, args: args.slice(0, most), kwargs: newDict() }, this, parts.finder);
    };
  }
  return exports;
}

/** Older files lack the newer parameters of their kind (`save_load(jid, load)` without the minions). */
function mostArguments(params: Params | undefined): number {
  const kinds = Object.values(params ?? {}).map(({ kind }) => kind);
  return params === undefined || kinds.includes('rest') ? Infinity : kinds.filter((kind) => kind === 'any').length;
}

interface RendererCaller extends PythonCaller {
  readonly sls: string;
  readonly argline: string;
  readonly path: string | undefined;
  readonly variables: Readonly<PlainDict>;
}

/** Salt's `render(data, saltenv, sls, argline=…, context=…)`; one without `**kwargs` gets what it declares. */
function rendererOf(parts: PythonParts, described: Described) {
  const declared = Object.entries(described.functions['render']?.params ?? {});
  const takesAny = declared.some(([, { kind }]) => kind === 'kwargs');
  const most = mostArguments(described.functions['render']?.params);
  return async (source: Value, ctx: RendererCaller): Promise<Value> => {
    const { sls, argline, path, variables } = ctx;
    const given: [string, Value][] = [
      ['context', newDict(Object.entries(variables))],
      ['argline', argline],
      ['tmplpath', path ?? null],
    ];
    const wanted = (name: string): boolean => takesAny || declared.some(([key]) => key === name);
    const kwargs = newDict(given.filter(([name, value]) => value !== null && value !== '' && wanted(name)));
    const args = [source, ctx.saltenv ?? 'base', sls].slice(0, most);
    return parts.host.run({ ...parts, fun: 'render', args, kwargs }, ctx, parts.finder);
  };
}

const anyParam = { doc: '', required: false, default: null, aliases: [] } as const;
const pillarParams: Params = {
  args: { ...anyParam, kind: 'rest' },
  kwargs: { ...anyParam, kind: 'kwargs' },
};

interface PillarCaller extends PythonCaller {
  readonly minionId: string;
  readonly pillar: PlainDict;
}

/** `ext_pillar(minion_id, pillar, …)`; older ones have no `minion_id`. */
function pillarOf(parts: PythonParts, described: Described) {
  const declared = Object.keys(described.functions['ext_pillar']?.params ?? {});
  return async ({ args, kwargs }: { args: Value[]; kwargs: PlainDict }, ctx: PillarCaller): Promise<Value> => {
    const own: Value[] = declared[0] === 'pillar' ? [ctx.pillar] : [ctx.minionId, ctx.pillar];
    const call = { ...parts, fun: 'ext_pillar', args: [...own, ...(args ?? [])], kwargs: kwargs ?? newDict() };
    return parts.host.run(call, ctx, parts.finder);
  };
}
