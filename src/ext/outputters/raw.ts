// Outputter `raw`: the value as Python prints it, on one line.
import { defineOutputter } from 'halite/sdk';
import { pyStr } from '../../base/codec/python/repr.ts';

export default defineOutputter({
  name: 'raw',
  doc: 'The value as a Python literal on one line.',
  render: (data) => pyStr(data),
});
