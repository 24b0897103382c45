// Outputter `key`: lists of salt-key, one heading per state of keys.
import { type Dict, defineOutputter, dictEntries, HaliteError, isDict, isTruthy, pyStr, type Value } from 'halite/sdk';
import { compareText } from 'halite/sdk/codec';
import { type ColorName, colorsFor, stripEscapes, stripsColors } from '../shared/output/colors.ts';

const headings: Readonly<Record<string, readonly [title: string, heading: ColorName, keys: ColorName]>> = {
  minions_pre: ['Unaccepted Keys:', 'LIGHT_RED', 'RED'],
  minions: ['Accepted Keys:', 'LIGHT_GREEN', 'GREEN'],
  minions_denied: ['Denied Keys:', 'LIGHT_MAGENTA', 'MAGENTA'],
  minions_rejected: ['Rejected Keys:', 'LIGHT_BLUE', 'BLUE'],
  local: ['Local Keys:', 'LIGHT_MAGENTA', 'MAGENTA'],
};

const byText = (dict: Dict): [string, Value][] =>
  dictEntries(dict)
    .map(([key, value]): [string, Value] => [pyStr(key), value])
    .sort(([a], [b]) => compareText(a, b));

/** Ids with what belongs to them (a fingerprint), or ids alone. */
function idsOf(group: Value): [string, string][] {
  if (Array.isArray(group))
    return group
      .map(pyStr)
      .sort(compareText)
      .map((id) => [id, '']);
  if (isDict(group)) return byText(group).map(([id, value]) => [id, `:  ${pyStr(value)}`]);
  throw new HaliteError('call.arguments', 'not a list of keys');
}

export default defineOutputter({
  name: 'key',
  doc: 'Keys by state, as salt-key shows them.',
  render(data, options) {
    if (!isDict(data)) throw new HaliteError('call.arguments', 'not a list of keys');
    const colors = colorsFor(options);
    const strip = stripsColors(options);
    const margin = isTruthy(options.opts['__multi_key']) ? '    ' : '';
    let text = '';
    for (const [state, group] of byText(data)) {
      const heading = headings[state];
      if (!heading) throw new HaliteError('call.arguments', `no such state of keys: ${state}`);
      text += `${margin}${colors[heading[1]]}${heading[0]}${colors.ENDC}\n`;
      for (const [id, rest] of idsOf(group)) {
        text += `${margin}${colors[heading[2]]}${strip ? stripEscapes(id) : id}${rest}${colors.ENDC}\n`;
      }
    }
    return text;
  },
});
