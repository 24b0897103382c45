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

/** A mode's bits: digits are octal, whether they came as text or number. */
export function parseMode(mode: Value): number | undefined {
  const text = normalizeMode(mode);
  return text !== null && /^[0-7]{4,5}$/.test(text) ? Number.parseInt(text, 8) : undefined;
}
