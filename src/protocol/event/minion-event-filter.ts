// Which tags a minion may fire on the master's bus: those with its own id, and those that Salt does not use itself.
import { isJid } from '../../base/util/index.ts';

/**
 * Tags below `salt/` that only the master fires. Salt refuses some of these, in the list form only; Halite refuses all
 * of them in every form (CVE-2025-22236, CVE-2025-22239).
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
/** Tags below `salt/` whose next part is a minion id. */
const ofMinion = new Set(['beacon', 'minion', 'proxy', 'state_result', 'syndic']);

const longestTag = 4096;
/** Characters that would end a line or a frame, or are invisible. */
const unprintable = /[\p{Cc}\u2028\u2029]/u;

/** What the caller knows about the ids in tags. */
export interface NamesInTags {
  /** Whether the sender may fire events for that minion: one below a syndic. */
  speaksFor(name: string): boolean;
  /** Whether a minion with this id exists. */
  isMinion(name: string): boolean;
}
const nothingKnown: NamesInTags = { speaksFor: () => false, isMinion: () => false };

/**
 * True when a minion with this id may fire the tag. If a tag contains a minion id, it must be that of the sender, or of
 * a minion that it represents. Events forwarded by syndics have the prefix `syndic/<id>/` and are allowed.
 */
export function minionMayFire(tag: string, id: string, names: NamesInTags = nothingKnown): boolean {
  if (tag === '' || tag.length > longestTag || unprintable.test(tag)) return false;
  const text: unknown = tag;
  if (isJid(text)) return false;
  const mayName = (name: string | undefined): boolean => name === id || (name !== undefined && names.speaksFor(name));
  const parts = tag.split('/');
  // Also refuses similar tags: a subscriber may match tags ignoring case, blanks or empty parts.
  const [first, second] = parts.map((part) => part.trim().toLowerCase()).filter((part) => part !== '');
  switch (first) {
    case 'salt':
      return mayFireBelowSalt(parts, second ?? '', id, mayName);
    case 'syndic':
      return parts[0] === first && mayName(parts[1]);
    case 'minion':
      if (second !== 'refresh') return namesNobody(parts, first, id, names);
      return parts[0] === first && parts[1] === second && mayName(parts[2]);
    case 'halite':
      return false;
    case 'key':
      // The rotation of the AES key.
      return second !== undefined;
    default:
      return namesNobody(parts, first, id, names);
  }
}

/** Custom tags may be anything, except one that equals a tag of Salt without `salt/` and names another minion. */
function namesNobody(parts: readonly string[], first: string | undefined, id: string, names: NamesInTags): boolean {
  if (first !== 'job' && !ofMinion.has(first ?? '')) return true;
  // Salt's own tags have the id among the first parts; checking each of thousands of parts would take long.
  return !parts.slice(1, 5).some((part) => part !== id && names.isMinion(part) && !names.speaksFor(part));
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
  // Strict, because a tag may contain a second `/ret/`: only the plain form of a return or of progress is allowed.
  if (parts[3] === 'ret') return plain && parts.length === 5 && parts[4] === id;
  // Halite minions report a failed returner.
  if (parts[3] === 'returner') return plain && parts.length === 5 && parts[4] === id;
  return plain && parts[3] === 'prog' && mayName(parts[4]);
}
