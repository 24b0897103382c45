// Outputter `no_return`: minions that gave no answer, in red.
import { defineOutputter, HaliteError, isDict, pyStr, type Value } from 'halite/sdk';
import { type Colors, colorsFor } from '../shared/output/colors.ts';
import { sortedEntries } from '../shared/output/sorted-keys.ts';

function display(value: Value, colors: Colors, indent: number): string {
  const margin = ' '.repeat(indent);
  if (typeof value === 'string') {
    return value
      .split('\n')
      .map((line) => `${colors.RED}${margin}${line}${colors.ENDC}\n`)
      .join('');
  }
  if (!isDict(value)) return '';
  const entries = sortedEntries(value);
  if (!entries) throw new HaliteError('call.arguments', 'keys have no common order');
  return entries
    .map(([key, item]) => `${colors.CYAN}${margin}${pyStr(key)}${colors.ENDC}:\n${display(item, colors, indent + 4)}`)
    .join('');
}

export default defineOutputter({
  name: 'no_return',
  doc: 'Messages about minions that did not answer.',
  render: (data, options) => display(data, colorsFor(options), 0),
});
