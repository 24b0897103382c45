// Python's bool(value). (Goes away when `isTruthy` moves into the SDK.)
import { dictSize, isDict, PyFloat, type Value } from '../../base/codec/value.ts';
export function isTruthy(value: Value | undefined): boolean {
  if (value === null || value === undefined || value === false || value === '' || value === 0 || value === 0n)
    return false;
  if (Array.isArray(value)) return value.length > 0;
  if (value instanceof Uint8Array) return value.length > 0;
  if (value instanceof PyFloat) return value.value !== 0;
  return isDict(value) ? dictSize(value) > 0 : true;
}
