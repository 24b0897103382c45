// Outputter `json`: one JSON document per printed value.
import { defineOutputter } from 'halite/sdk';
import { dumpJson } from '../../base/codec/json/dump.ts';
import { askedIndent } from './_lib/indent.ts';

export default defineOutputter({
  name: 'json',
  doc: 'JSON, four columns per level; --out-indent=-1 puts each answer on one line.',
  render(data, options) {
    const asked = askedIndent(options);
    const pretty = asked === 'pretty';
    const columns = asked === undefined || pretty ? 4 : asked;
    const indent = columns === null || columns < 0 ? undefined : columns;
    return dumpJson(data, { indent, sortKeys: pretty, ensureAscii: false });
  },
});
