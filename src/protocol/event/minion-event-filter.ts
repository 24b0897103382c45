// Which tags a minion may fire on the master's bus: never those that the master's own decisions are read from.
import { globMatcher, isJid } from '../../base/util/index.ts';

/** Salt refuses these in the list form only; Halite in both, and some more (CVE-2025-22236, CVE-2025-22239). */
const reserved = [
  'salt/job/*/publish',
  'salt/job/*/new',
  'salt/job/*/return',
  'salt/job/*/error',
  'salt/key',
  'salt/key/*',
  'salt/auth',
  'salt/auth/*',
  'salt/presence/*',
  'salt/cloud/*',
  'salt/run/*',
  'salt/cluster/*',
  'salt/wheel/*',
  // The rotation of the AES key.
  'key',
  'halite/*',
].map(globMatcher);

/**
 * True when a minion with this id may fire the tag. A return or progress event names its minion, which must be the
 * sender; a bare jid announces the minions of a job. What syndics forward has the prefix `syndic/<id>/` and passes.
 */
export function minionMayFire(tag: string, id: string): boolean {
  if (tag === '' || tag.length > 4096 || tag.includes('\0')) return false;
  if (reserved.some((matches) => matches(tag))) return false;
  const text: unknown = tag;
  if (isJid(text)) return false;
  if (!tag.startsWith('salt/job/') || !tag.includes('/ret/')) return true;
  // Strict, because a tag may hide a second `/ret/`: only the plain form counts.
  const parts = tag.split('/');
  return parts.length === 5 && parts[3] === 'ret' && parts[4] === id;
}
