// File modes as operators write them.

import { pyStr } from '../../../base/codec/python/repr.ts';
import type { Value } from '../../../base/codec/value.ts';

/** `644`, `'0644'`, `0o644` → `0644`; None stays None. */
export function normalizeMode(mode: Value): string | null {
  if (mode === null) return null;
  const digits = pyStr(mode)
    .replaceAll('0o', '0')
    .replace(/^"+|"+$/g, '')
    .replace(/^'+|'+$/g, '')
    .replace(/^0+/, '');
  return digits.padStart(4, '0');
}
