// Decides whether an archive may be unpacked: no member may be, or point, outside of the destination.

import { dirname } from 'node:path';
import { commandError } from 'halite/sdk';
import { isInside, lstatSync, realpathSync, statfsSync } from 'halite/sdk/fs';
import { visibleLine } from 'halite/sdk/text';

export interface Member {
  readonly name: string;
  /** `hard` is a link to another member, `special` is a device, a pipe, or unknown. */
  readonly kind: 'file' | 'dir' | 'link' | 'hard' | 'special';
  /** The target of a link. */
  readonly target?: string | undefined;
  readonly size: number;
  readonly mode: number;
}

const mostMembers = 1_000_000;
/** The maximum number of links that are followed. */
const mostSteps = 1000;

const partsOf = (name: string): string[] => name.split('/').filter((part) => part !== '' && part !== '.');
const quoted = (name: string): string => `'${visibleLine(name.slice(0, 300))}'`;

function nameProblem(name: string): string | undefined {
  if (name.includes('\0')) return 'has a NUL character in its name';
  if (name.startsWith('/')) return 'has an absolute name';
  return partsOf(name).includes('..') ? "has '..' in its name" : undefined;
}

/** Whether the target of a link stays inside, following the other links of the archive. */
function staysInside(link: Member, links: ReadonlyMap<string, string>): boolean {
  const at = partsOf(link.name).slice(0, -1);
  const ahead = [link.target ?? ''];
  for (let steps = 0; ahead.length > 0; steps++) {
    const path = ahead.pop() as string;
    if (steps > mostSteps || path.startsWith('/') || path.includes('\0')) return false;
    const [first, ...rest] = path.split('/');
    if (rest.length > 0) ahead.push(rest.join('/').replace(/^\/+/, ''));
    if (first === undefined || first === '' || first === '.') continue;
    if (first === '..') {
      if (at.pop() === undefined) return false;
      continue;
    }
    at.push(first);
    const next = links.get(at.join('/'));
    if (next === undefined) continue;
    at.pop();
    ahead.push(next);
  }
  return true;
}

/** The link of the archive that a name goes through, if there is one. */
function linkOnTheWay(parts: readonly string[], links: ReadonlyMap<string, string>): string | undefined {
  for (let length = 1; length < parts.length; length++) {
    const above = parts.slice(0, length).join('/');
    if (links.has(above)) return above;
  }
  return undefined;
}

function memberProblem(member: Member, links: ReadonlyMap<string, string>): string | undefined {
  const problem = nameProblem(member.name);
  if (problem !== undefined) return problem;
  if (member.kind === 'special') return 'is no file, folder or link';
  const through = linkOnTheWay(partsOf(member.name), links);
  if (through !== undefined) return `lies behind the link ${quoted(through)} of the same archive`;
  if (member.kind === 'dir' || member.kind === 'file') {
    return links.has(partsOf(member.name).join('/')) ? 'is in the archive twice, once as a link' : undefined;
  }
  const target = member.target ?? '';
  if (member.kind === 'link') return staysInside(member, links) ? undefined : `leads outside, to ${quoted(target)}`;
  const outside = nameProblem(target) !== undefined || linkOnTheWay(partsOf(target), links) !== undefined;
  return outside ? `is a hard link to ${quoted(target)}, outside` : undefined;
}

const lstat = (path: string) => lstatSync(path, { throwIfNoEntry: false });

/** Links that lie in the destination already and lead out of it: the first member that would go through one. */
function behindExistingLink(members: readonly Member[], dest: string, strip: number): string | undefined {
  if (!lstat(dest)) return undefined;
  const root = realpathSync(dest);
  const good = new Set<string>(['']);
  for (const { name, kind } of members) {
    const parts = partsOf(name).slice(strip);
    const folders = kind === 'dir' ? parts : parts.slice(0, -1);
    let path = '';
    for (const part of folders) {
      path += `/${part}`;
      if (good.has(path)) continue;
      const stat = lstat(root + path);
      if (!stat) break;
      if (stat.isSymbolicLink() && !isInside(root, real(root + path)))
        return `${quoted(name)} lies behind the link ${root}${path}, which leads out of ${dest}`;
      good.add(path);
    }
  }
  return undefined;
}

/** A link that cannot be resolved counts as leading outside. */
function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return '/';
  }
}

/** Free bytes in the file system of a folder, which may not exist yet. */
function room(dest: string): number {
  let folder = dest;
  while (!lstat(folder) && dirname(folder) !== folder) folder = dirname(folder);
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

function tooLarge(members: readonly Member[], dest: string, strip: number): string | undefined {
  if (members.length > mostMembers) return `it has more than ${mostMembers} members`;
  const total = members.reduce((sum, { size }) => sum + size, 0);
  const left = room(dest);
  if (total <= left) return undefined;
  // Files that are replaced free their space.
  const replaced = members.reduce(
    (sum, { name }) => sum + (lstat(`${dest}/${partsOf(name).slice(strip).join('/')}`)?.size ?? 0),
    0,
  );
  return total > left + replaced ? `it needs ${total} bytes, and ${dest} has room for ${left}` : undefined;
}

/** Throws, naming the member, unless every member stays inside; the archive is refused as a whole. */
export function checkMembers(archive: string, members: readonly Member[], dest: string, strip = 0): void {
  const links = new Map<string, string>();
  const refuse = (why: string): never => {
    throw commandError(`${archive} is not unpacked: ${why}`);
  };
  for (const { kind, name, target = '' } of members) {
    if (kind !== 'link') continue;
    const path = partsOf(name).join('/');
    if (links.has(path) && links.get(path) !== target) refuse(`${quoted(name)} is in it twice, as different links`);
    links.set(path, target);
  }
  for (const member of members) {
    const problem = memberProblem(member, links);
    if (problem !== undefined) refuse(`${quoted(member.name)} ${problem}`);
  }
  const problem = tooLarge(members, dest, strip) ?? behindExistingLink(members, dest, strip);
  if (problem !== undefined) refuse(problem);
}
