// Names from peers that become file names: minion ids, environments, cache banks.

const FORBIDDEN = /[/\\\u0000-\u001f\u007f]/;
// File systems store at most 255 bytes per name.
const MAX_BYTES = 255;

/** Whether a name may stand as one component of a path. */
export function isPathComponent(name: unknown): name is string {
  if (typeof name !== 'string' || name === '' || name === '.' || name === '..') return false;
  return !FORBIDDEN.test(name) && name.length <= MAX_BYTES && Buffer.byteLength(name) <= MAX_BYTES;
}

/** Whether a minion id is acceptable. A leading dot is not: such key files are never listed. */
export function isValidMinionId(id: unknown): id is string {
  return isPathComponent(id) && !id.startsWith('.');
}
