// Outputter `json`: one JSON document per printed value.
import { defineOutputter } from 'halite/sdk';
import { dumpJson, indentJson } from 'halite/sdk/codec';
import { askedIndent } from './shared/indent.ts';

/** Columns per level; undefined: everything on one line. */
function columnsOf(asked: ReturnType<typeof askedIndent>): number | undefined {
  const columns = asked === undefined || asked === 'pretty' ? 4 : asked;
  return columns === null || columns < 0 ? undefined : columns;
}

export default defineOutputter({
  name: 'json',
  doc: 'JSON with an indent of four; --out-indent=-1 prints each answer on one line.',
  render(data, options) {
    const asked = askedIndent(options);
    return dumpJson(data, { indent: columnsOf(asked), sortKeys: asked === 'pretty', ensureAscii: false });
  },
  renderText(text, options) {
    const asked = askedIndent(options);
    const indent = columnsOf(asked);
    return asked === 'pretty' || indent === undefined ? undefined : indentJson(text.bytes, indent);
  },
});
