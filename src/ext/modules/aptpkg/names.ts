// Package names with and without their architecture.
import { type Dict, dictGet } from 'halite/sdk';

/** `bash:amd64` → `bash` where that is the machine's own architecture. */
export function normalizeName(name: string, grains: Dict): string {
  const at = name.lastIndexOf(':');
  if (at < 0) return name;
  return [dictGet(grains, 'osarch'), 'all', 'any'].includes(name.slice(at + 1)) ? name.slice(0, at) : name;
}

export function splitArchitecture(name: string): { name: string; arch: string | null } {
  const at = name.lastIndexOf(':');
  return at < 0 ? { name, arch: null } : { name: name.slice(0, at), arch: name.slice(at + 1) };
}
