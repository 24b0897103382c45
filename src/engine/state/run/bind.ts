// Selects the arguments of a function from the keys of a chunk, and reports unknown ones.
import { newDict, type PlainDict } from '../../../base/codec/value.ts';
import { nearest } from '../../../base/util/index.ts';
import type { Params } from '../../../extend/sdk/index.ts';
import type { Chunk } from '../data.ts';
import { internalKeywords } from '../keywords.ts';

interface StateSignature {
  readonly names: readonly string[];
  readonly required: readonly string[];
  /** Every accepted keyword. */
  readonly known: ReadonlySet<string>;
  readonly takesAny: boolean;
}

const signatures = new WeakMap<Params, StateSignature>();

export function stateSignature(params: Params): StateSignature {
  let signature = signatures.get(params);
  if (!signature) {
    const named = Object.entries(params).filter(([, param]) => param.kind !== 'kwargs' && param.kind !== 'rest');
    signature = {
      names: named.map(([name]) => name),
      required: named.filter(([, param]) => param.required).map(([name]) => name),
      known: new Set(named.flatMap(([name, param]) => [name, ...param.aliases])),
      takesAny: Object.values(params).some((param) => param.kind === 'kwargs'),
    };
    signatures.set(params, signature);
  }
  return signature;
}

export interface StateArguments {
  readonly kwargs: PlainDict;
  /** A message about unknown arguments. */
  readonly warnings: string[];
}

/** The arguments for a call of `full`. Keywords of the runtime are passed only where they are declared. */
export function stateArguments(full: string, params: Params, low: Chunk): StateArguments {
  const signature = stateSignature(params);
  const kwargs = newDict();
  const unknown: string[] = [];
  for (const key in low) {
    if (signature.known.has(key)) kwargs[key] = low[key]!;
    else if (internalKeywords.has(key)) continue;
    else if (signature.takesAny) kwargs[key] = low[key]!;
    else unknown.push(key);
  }
  return { kwargs, warnings: unknown.length > 0 ? [unknownText(full, unknown, signature)] : [] };
}

/** Salt's message, and suggestions. Salt itself ends the whole run here. */
function unknownText(full: string, unknown: readonly string[], { known }: StateSignature): string {
  const quoted = unknown.map((name) => `'${name}'`);
  const last = quoted.at(-1)!;
  const text =
    unknown.length === 1
      ? `${last} is an invalid keyword argument for '${full}'`
      : `${quoted.slice(0, -1).join(', ')} and ${last} are invalid keyword arguments for '${full}'`;
  const candidates = new Set([...known, ...[...internalKeywords].filter((name) => !name.startsWith('__'))]);
  const meant = unknown.flatMap((name) => {
    const near = nearest(name, candidates);
    return near === undefined ? [] : [unknown.length === 1 ? `'${near}'` : `'${near}' for '${name}'`];
  });
  return meant.length === 0 ? text : `${text}. Did you mean ${meant.join(', ')}?`;
}
