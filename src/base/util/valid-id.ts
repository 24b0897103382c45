// Names from peers that become file names: minion ids, environments, cache banks.
import { visibleLine } from './visible.ts';

const forbidden = /[/\\\u0000-\u001f\u007f]/;
// File systems store at most 255 bytes per name.
const maxBytes = 255;

/** Whether a name may be one component of a path. */
export function isPathComponent(name: unknown): name is string {
  if (typeof name !== 'string' || name === '' || name === '.' || name === '..') return false;
  return !forbidden.test(name) && name.length <= maxBytes && Buffer.byteLength(name) <= maxBytes;
}

/** The form of nearly all ids, checked first because it is fast. */
const hostName = /^[A-Za-z0-9_][A-Za-z0-9_.:-]{0,254}$/;
/**
 * Control characters, invisible characters, spaces other than the plain one, and replacement characters of broken text.
 */
const invisible = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\ufffd]|(?! )\p{Zs}/u;

/**
 * Why a text cannot be a minion id, as the end of the sentence "the id …"; undefined when it can. Ids are file names,
 * are matched by patterns and are read by people: Salt's path separators are refused, and so is everything that could
 * match other minions, control a terminal or look like another id. Letters of all scripts are allowed.
 */
export function minionIdProblem(id: unknown): string | undefined {
  if (typeof id !== 'string') return 'is not text';
  if (hostName.test(id)) return undefined;
  if (id === '') return 'is empty';
  if (id.length > maxBytes || Buffer.byteLength(id) > maxBytes) return `is longer than ${maxBytes} bytes`;
  const odd = invisible.exec(id)?.[0];
  if (odd !== undefined) return `contains U+${codePoint(odd)}, a control or invisible character`;
  const syntax = /[/\\*?[\]]/.exec(id)?.[0];
  if (syntax !== undefined) return `contains '${syntax}', which has a special meaning in paths and targets`;
  // Key files that begin with a dot are never listed; a dash would start an option of commands.
  if (/^[.-]/.test(id)) return `begins with '${id[0]}'`;
  if (id !== id.trim()) return 'begins or ends with a space';
  return id === id.normalize('NFC')
    ? undefined
    : 'is written with combining characters where single ones exist (not in NFC)';
}

const codePoint = (character: string): string =>
  (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');

/** Whether a minion id is acceptable. */
export function isValidMinionId(id: unknown): id is string {
  return minionIdProblem(id) === undefined;
}

/** An id for messages: truncated, and with control characters made visible. */
export function shownId(id: string): string {
  return visibleLine(id.length > 80 ? `${id.slice(0, 80)}…` : id);
}
