// Outputter `txt`: every line of output behind the minion's name.
import { defineOutputter, dictEntries, isDict, pyStr } from 'halite/sdk';
import { pprintValue } from 'halite/sdk/codec';
import { splitLines } from 'halite/sdk/text';

export default defineOutputter({
  name: 'txt',
  doc: 'Lines of output, each after the name of its minion.',
  render(data) {
    if (!isDict(data)) return typeof data === 'string' ? `${data}\n` : `${pprintValue(data)}\n`;
    let text = '';
    for (const [key, value] of dictEntries(data)) {
      const name = pyStr(key);
      const lines = typeof value === 'string' ? splitLines(value) : [pyStr(value)];
      for (const line of lines) text += `${name}: ${line}\n`;
    }
    return text;
  },
});
