// The part of Python's str.format that a custom terse layout (`state_tabular: '…'`) can use.
import { fieldOf, HaliteError, pyRepr, pyStr, type Value } from 'halite/sdk';
import { charLength, charSlice } from 'halite/sdk/text';

const field = /\{\{|\}\}|\{(\d*)((?:\[[^\]]*\])*)(?:!([sra]))?(?::([^{}]*))?\}/g;
const specPattern = /^(?:(.)?([<>^=]))?(\d+)?(?:\.(\d+))?s?$/u;

/** Fields `{n}`, `{n[key]}`, `!s`, `!r` and `:fill align width .precision`. */
export function formatWith(format: string, values: readonly Value[]): string {
  let next = 0;
  return format.replace(
    field,
    (whole, index: string, path: string, how: string | undefined, spec: string | undefined) => {
      if (whole === '{{' || whole === '}}') return whole.charAt(0);
      const value = lookUp(values[index === '' ? next++ : Number(index)], path);
      return pad(how === 'r' || how === 'a' ? pyRepr(value) : pyStr(value), spec ?? '');
    },
  );
}

function lookUp(start: Value | undefined, path: string): Value {
  let value = start;
  for (const [, key = ''] of path.matchAll(/\[([^\]]*)\]/g)) {
    if (value === undefined) break;
    if (Array.isArray(value)) value = value[Number(key)];
    else value = fieldOf(value, key);
  }
  if (value === undefined) throw new HaliteError('config.value', `state_tabular: nothing at ${path}`);
  return value;
}

function pad(text: string, spec: string): string {
  const match = specPattern.exec(spec);
  if (!match) throw new HaliteError('config.value', `state_tabular: cannot read ':${spec}'`);
  const [, fill = ' ', align = '<', width = '0', precision] = match;
  const shown = precision === undefined ? text : charSlice(text, 0, Number(precision));
  const room = Math.max(0, Number(width) - charLength(shown));
  const left = align === '>' ? room : align === '^' ? Math.floor(room / 2) : 0;
  return fill.repeat(left) + shown + fill.repeat(room - left);
}
