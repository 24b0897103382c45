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

/** What is known about names in tags. */
export interface NamesInTags {
  /** Whether the sender may speak for that minion: one below a lower master. */
  speaksFor(name: string): boolean;
  /** Whether a minion of this name exists. */
  isMinion(name: string): boolean;
}
const nothingKnown: NamesInTags = { speaksFor: () => false, isMinion: () => false };

/**
 * True when a minion with this id may fire the tag. Where a tag names a minion, that must be the sender, or one that it
 * speaks for. What syndics forward has the prefix `syndic/<id>/` and passes.
 */
export function minionMayFire(tag: string, id: string, names: NamesInTags = nothingKnown): boolean {
  if (tag === '' || tag.length > longestTag || unprintable.test(tag)) return false;
  const text: unknown = tag;
  if (isJid(text)) return false;
  const mayName = (name: string | undefined): boolean => name === id || (name !== undefined && names.speaksFor(name));
  const parts = tag.split('/');
  // Look-alikes too: somebody may match tags without minding case, blanks or empty parts.
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

/** Tags of one's own may be anything; one that only lacks the `salt/` of Salt's own does not name another minion. */
function namesNobody(parts: readonly string[], first: string | undefined, id: string, names: NamesInTags): boolean {
  if (first !== 'job' && !ofMinion.has(first ?? '')) return true;
  // Salt's own have the name among the first parts; looking each of thousands up would take long.
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
  // Strict, because a tag may hide a second `/ret/`: only the plain form of a return or of progress counts.
  if (parts[3] === 'ret') return plain && parts.length === 5 && parts[4] === id;
  // Halite minions say which returner failed.
  if (parts[3] === 'returner') return plain && parts.length === 5 && parts[4] === id;
  return plain && parts[3] === 'prog' && mayName(parts[4]);
}
