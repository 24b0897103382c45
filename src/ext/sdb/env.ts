// Secret store `env`: environment variables of the process.
import { defineSdb, pyStr, type Value } from 'halite/sdk';

export default defineSdb({
  name: 'env',
  doc: 'Environment variables. One that is set already keeps its value.',
  get: (key) => process.env[key] ?? null,
  set(key, value): Value {
    process.env[key] ??= pyStr(value);
    return process.env[key] ?? null;
  },
});
