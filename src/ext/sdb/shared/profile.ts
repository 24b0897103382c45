// Reading the settings of a profile.
import { asList, type Dict, dictGet, HaliteError, pyStr, type Value } from 'halite/sdk';

/** A setting as text; null when it is missing. */
export function textOf(profile: Dict, ...names: readonly string[]): string | null {
  for (const name of names) {
    const value = dictGet(profile, name);
    if (value !== undefined && value !== null) return pyStr(value);
  }
  return null;
}

export function required(profile: Dict, name: string): string {
  const text = textOf(profile, name);
  if (text === null || text === '') throw new HaliteError('config.value', `The sdb profile lacks "${name}"`);
  return text;
}

export function numberOf(profile: Dict, fallback: number, ...names: readonly string[]): number {
  const number = Number(textOf(profile, ...names) ?? fallback);
  return Number.isFinite(number) ? number : fallback;
}

/** `key?a=1&b=2`: the key, and the parameters of the address. */
export function splitQuery(key: string): { readonly key: string; readonly query: ReadonlyMap<string, string> } {
  const [plain = '', query = ''] = key.split('?');
  const pairs = query.split('&').filter((pair) => pair.includes('='));
  return {
    key: plain,
    query: new Map(pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)])),
  };
}

export const listOf = (value: Value | undefined): Value[] => asList(value) ?? [];
