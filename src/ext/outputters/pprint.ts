// Outputter `pprint`: the value as a Python literal, broken over lines.
import { defineOutputter } from 'halite/sdk';
import { pprintValue } from 'halite/sdk/codec';
import { askedIndent } from './shared/indent.ts';

export default defineOutputter({
  name: 'pprint',
  doc: 'The value as a Python literal, at most 80 columns wide.',
  render(data, options) {
    const indent = askedIndent(options);
    return pprintValue(data, typeof indent === 'number' && indent >= 0 ? { indent } : {});
  },
});
