// Outputter `newline_values_only`: values without minion names, one per line.
import { defineOutputter, dictEntries, HaliteError, isDict, oneOrMore, pyStr } from 'halite/sdk';

export default defineOutputter({
  name: 'newline_values_only',
  doc: 'Only the values, one per line; lists are spread over lines.',
  render(data) {
    if (!isDict(data)) throw new HaliteError('call.arguments', 'newline_values_only shows answers of minions only');
    return dictEntries(data)
      .flatMap(([, value]) => oneOrMore(value))
      .map(pyStr)
      .join('\n');
  },
});
