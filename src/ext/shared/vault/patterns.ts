// Names of policies and paths with fields: `saltstack/by-role/{grains[roles]}`; a list gives one name for each item.
import { dictGet, isDict, pyStr, type Value } from 'halite/sdk';

export type Fields = Readonly<Record<string, Value>>;

/** Thrown for a missing field. */
export class MissingField extends Error {}

const field = /\{\{|\}\}|\{([^{}]*)\}/g;

/** Looks up `pillar[a][b]`. */
function fieldValue(path: string, fields: Fields): Value {
  const [, first = '', rest = ''] = /^([^[]*)(.*)$/s.exec(path) ?? [];
  let value: Value | undefined = Object.hasOwn(fields, first) ? fields[first] : undefined;
  for (const [, key = ''] of rest.matchAll(/\[([^\]]*)\]/g)) {
    if (value !== undefined && isDict(value))
      value = dictGet(value, key) ?? (/^\d+$/.test(key) ? dictGet(value, Number(key)) : undefined);
    else if (Array.isArray(value) && /^\d+$/.test(key)) value = value[Number(key)];
    else value = undefined;
  }
  if (value === undefined) throw new MissingField(path);
  return value;
}

/** All names that a pattern expands to. */
export function expandPattern(pattern: string, fields: Fields): string[] {
  for (const [token, path] of pattern.matchAll(field)) {
    if (path === undefined) continue;
    const value = fieldValue(path, fields);
    if (!Array.isArray(value)) continue;
    return value.flatMap((item) =>
      expandPattern(
        pattern.replaceAll(token, () => pyStr(item)),
        fields,
      ),
    );
  }
  return [
    pattern.replace(field, (token: string, path: string | undefined) =>
      path === undefined ? token.slice(1) : pyStr(fieldValue(path, fields)),
    ),
  ];
}
