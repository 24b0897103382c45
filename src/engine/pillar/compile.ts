// The pillar of one minion, from top files to decrypted values.
import {
  asDict,
  type Dict,
  dictEntries,
  dictGet,
  dictOf,
  newDict,
  type PlainDict,
  type Value,
} from '../../base/codec/value.ts';
import { saltCompatVersion } from '../../base/util/version.ts';
import type { PillarContext } from '../../extend/sdk/index.ts';
import { type Compilation, type SourceWatcher, startCompilation, withPillar } from './compilation.ts';
import { decryptPillar } from './decrypt.ts';
import { externalPillar } from './ext.ts';
import { without } from './merge.ts';
import { renderPillar } from './sls.ts';
import { getTop, topMatches } from './top.ts';
import type { PillarHost, PillarRequest } from './types.ts';

export interface CompileOptions {
  /** False skips external pillars. */
  readonly external?: boolean;
  readonly watch?: SourceWatcher;
}

/** Compiles. Errors are in `_errors` of the result; only an aborted compilation throws. */
export async function compilePillar(
  host: PillarHost,
  opts: Readonly<Record<string, Value>>,
  request: PillarRequest,
  options: CompileOptions = {},
): Promise<Dict> {
  const compilation = startCompilation(host, opts, request, options.watch);
  try {
    return await compile(compilation, options.external !== false);
  } catch (error) {
    host.signal?.throwIfAborted();
    // Real Salt returns nothing at all; a minion must know that this is not its pillar.
    compilation.errors.thrown(`Compiling the pillar failed: ${text(error)}`, 'Compiling the pillar failed', error);
    return withErrors(compilation.override, compilation);
  }
}

const text = (error: unknown): string => (error instanceof Error ? error.message : String(error));

async function compile(compilation: Compilation, external: boolean): Promise<Dict> {
  const { opts, merge, override, errors } = compilation;
  // Errors of the top file come last, as in Salt.
  const top = await getTop(compilation);
  const topErrors = errors.list.splice(0);
  let pillar: Dict;
  if (external && opts['ext_pillar_first'] === true) {
    const first = await externalPillar(compilation, override, (watch) => rootsCompiler(compilation, watch));
    const after = withPillar(compilation, first);
    pillar = await renderPillar(after, topMatches(after, top.data, first), top.ignored);
    pillar = merge(first, pillar);
    // Salt merges once more for salt-ssh, which moves the keys of the first to the front again: the same result.
  } else {
    pillar = await renderPillar(compilation, topMatches(compilation, top.data, pillarSoFar(opts)), top.ignored);
    if (external) pillar = await externalPillar(compilation, pillar, (watch) => rootsCompiler(compilation, watch));
  }
  errors.list.push(...topErrors);
  if (opts['pillar_opts'] === true) pillar = dictOf([...dictEntries(pillar), ['master', masterOpts(opts)]]);
  pillar = withErrors(pillar, compilation);
  if (dictEntries(override).length > 0) pillar = merge(pillar, override);
  const before = errors.list.length;
  const decrypted = await decryptPillar(compilation, pillar);
  return errors.list.length > before ? withErrors(decrypted, compilation) : decrypted;
}

function pillarSoFar(opts: PlainDict): Dict {
  const known = opts['pillar'];
  return asDict(known) ?? newDict();
}

function masterOpts(opts: PlainDict): Dict {
  const shown = without(opts, 'grains');
  return dictOf([...dictEntries(shown), ['saltversion', saltCompatVersion]]);
}

/** `_errors` at its position: where it was, or at the end. */
function withErrors(pillar: Dict, { errors }: Compilation): Dict {
  if (errors.list.length === 0) return pillar;
  const list = [...errors.list];
  if (dictGet(pillar, '_errors') === undefined) return dictOf([...dictEntries(pillar), ['_errors', list]]);
  return dictOf(dictEntries(pillar).map(([key, value]): [Value, Value] => [key, key === '_errors' ? list : value]));
}

/** Compiles folders from an external source, by their own top files and without external sources. */
function rootsCompiler(compilation: Compilation, watch: SourceWatcher | undefined): PillarContext['compileRoots'] {
  const { process, givenOpts, minionId, grains, pillarenv } = compilation;
  return (roots, saltenv) => {
    const own = newDict(Object.entries(givenOpts));
    own['pillar_roots'] = newDict(Object.entries(roots).map(([env, folders]): [string, Value] => [env, [...folders]]));
    const request = { minionId, grains, saltenv, pillarenv };
    return compilePillar(process, own, request, { external: false, ...(watch ? { watch } : {}) });
  };
}
