// Which tags a minion may fire on the master's bus: its own names and whatever Salt does not use itself.
import { isJid } from '../../base/util/index.ts';

/**
 * Below `salt/`: what only the master says. Salt refuses some of these, in the list form only; Halite all of them, however
 * they come (CVE-2025-22236, CVE-2025-22239).
 */
const ofMaster = new Set([
  'auth',
  'batch',
  'cloud',
  'cluster',
  'fileserver',
  'key',
  'netapi',
  'presence',
  'run',
  'stats',
  'wheel',
]);
/** Below `salt/`: what names a minion next. */
const ofMinion = new Set(['beacon', 'minion', 'proxy', 'state_result', 'syndic']);

const longestTag = 4096;
/** Characters that would end a line or a frame, or cannot be seen. */
const unprintable = /[\p{Cc}\u2028\u2029]/u;

/**
 * True when a minion with this id may fire the tag. Where a tag names a minion, that must be the sender, or one that
 * `speaksFor` allows (minions below a lower master). What syndics forward has the prefix `syndic/<id>/` and passes.
 */
export function minionMayFire(tag: string, id: string, speaksFor: (other: string) => boolean = () => false): boolean {
  if (tag === '' || tag.length > longestTag || unprintable.test(tag)) return false;
  const text: unknown = tag;
  if (isJid(text)) return false;
  const mayName = (name: string | undefined): boolean => name === id || (name !== undefined && speaksFor(name));
  const parts = tag.split('/');
  // Look-alikes too: somebody may match tags without minding case, blanks or empty parts.
  const [first, second] = parts.map((part) => part.trim().toLowerCase()).filter((part) => part !== '');
  switch (first) {
    case 'salt':
      return mayFireBelowSalt(parts, second ?? '', id, mayName);
    case 'syndic':
      return parts[0] === first && mayName(parts[1]);
    case 'minion':
      return second !== 'refresh' || (parts[0] === first && parts[1] === second && mayName(parts[2]));
    case 'halite':
      return false;
    case 'key':
      // The rotation of the AES key.
      return second !== undefined;
    default:
      return true;
  }
}

function mayFireBelowSalt(
  parts: readonly string[],
  kind: string,
  id: string,
  mayName: (name: string | undefined) => boolean,
): boolean {
  if (ofMaster.has(kind)) return false;
  const plain = parts[0] === 'salt' && parts[1] === kind;
  if (ofMinion.has(kind)) return plain && mayName(parts[2]);
  if (kind !== 'job') return true;
  // Strict, because a tag may hide a second `/ret/`: only the plain form of a return or of progress counts.
  if (parts[3] === 'ret') return plain && parts.length === 5 && parts[4] === id;
  return plain && parts[3] === 'prog' && mayName(parts[4]);
}
