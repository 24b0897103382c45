// Splits the `arg` list of a job into positional and keyword arguments, as Salt minions do.
import { pyStr } from '../../base/codec/python/index.ts';
import { dictEntries, dictGet, isDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { Params } from '../../extend/sdk/index.ts';
import { signatureOf } from './bind.ts';
import { ArgumentError, invalidKwargs } from './errors.ts';

// A cheap check whether a text can be `name=value` at all; the full rule is applied only to those.
const maybeKeyword = /^[\p{L}\p{N}_][^\s=]*=(?!=)/u;

export interface SplitArguments {
  readonly args: Value[];
  readonly kwargs: PlainDict;
}

/**
 * Positional and keyword arguments of a job. Keyword arguments are sent as one map marked `__kwarg__`; texts of the
 * form `name=value` count too. `published` is the job itself: functions that accept any keyword get it as `__pub_jid`
 * and so on.
 */
export async function splitArguments(
  params: Params,
  arg: readonly Value[],
  published: (() => PlainDict) | undefined,
): Promise<SplitArguments> {
  const signature = signatureOf(params);
  const args: Value[] = [];
  const kwargs = newDict();
  const invalid: string[] = [];
  const take = (key: string, value: Value) => {
    if (signature.kwargs || signature.keywords.has(key)) kwargs[key] = value;
    else invalid.push(`${key}=${pyStr(value)}`);
  };
  for (const item of arg) {
    if (isDict(item) && dictGet(item, '__kwarg__') === true) {
      for (const [key, value] of dictEntries(item)) {
        if (typeof key !== 'string') throw new ArgumentError('keywords must be strings');
        if (key !== '__kwarg__') take(key, value);
      }
      continue;
    }
    const named = typeof item === 'string' && maybeKeyword.test(item) ? await readKeyword(item) : undefined;
    if (named) take(...named);
    else args.push(item);
  }
  if (invalid.length > 0) throw invalidKwargs(invalid);
  if (signature.kwargs && published) {
    for (const [key, value] of Object.entries(published())) kwargs[`__pub_${key}`] = value;
  }
  return { args, kwargs };
}

/** Rare: commands parse their arguments themselves, so YAML is loaded only when raw text is sent. */
async function readKeyword(text: string): Promise<[string, Value] | undefined> {
  const { parseInput } = await import('../../base/codec/yaml/index.ts');
  return Object.entries(parseInput([text], { condition: false }).kwargs)[0];
}
