// Outputter `nested`: keys, indented values and list marks; the default.
import { defineOutputter } from 'halite/sdk';
import { colorsFor, stripsColors } from '../shared/output/colors.ts';
import { nestedLines } from '../shared/output/nested-lines.ts';

export default defineOutputter({
  name: 'nested',
  doc: 'Nested data with one line per value, keys above their values.',
  render(data, options) {
    const indent = options.opts['nested_indent'];
    const style = { colors: colorsFor(options), strip: stripsColors(options), retcode: options.retcode ?? 0 };
    return nestedLines(data, style, typeof indent === 'number' ? indent : 0).join('\n');
  },
});
