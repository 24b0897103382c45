// Outputter `raw`: the value as Python prints it, on one line.
import { defineOutputter, pyStr } from 'halite/sdk';

export default defineOutputter({
  name: 'raw',
  doc: 'The value as a Python literal on one line.',
  render: (data) => pyStr(data),
});
