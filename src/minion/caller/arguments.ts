// Arguments of a local call: parsed as YAML, except for parameters that keep the text as typed.

import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { parseInput } from '../../base/codec/yaml/index.ts';
import type { Params } from '../../extend/sdk/index.ts';

export interface CallArguments {
  readonly args: Value[];
  readonly kwargs: PlainDict;
}

/** Parses command-line arguments for a function with known parameters. */
export function readCallArguments(
  params: Params,
  words: readonly string[],
  noParse: readonly string[] = [],
): CallArguments {
  const positional = Object.keys(params).filter((name) => params[name]!.kind !== 'kwargs');
  const keepsText = (name: string | undefined) => name !== undefined && params[name]?.kind === 'text';
  const args: Value[] = [];
  const kwargs = newDict();
  for (const word of words) {
    const parsed = parseInput([word], { noParse });
    const [named] = Object.entries(parsed.kwargs);
    if (named) kwargs[named[0]] = keepsText(named[0]) ? word.slice(word.indexOf('=') + 1) : named[1];
    else args.push(keepsText(positional[args.length]) ? word : (parsed.args[0] ?? null));
  }
  return { args, kwargs };
}
