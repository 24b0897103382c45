// Unpacks an archive of a master into a private folder. Files are written first and links last, so that no entry is
// ever written through a link, not even another link; the links are only followed inside the folder (inside.ts).
import { createWriteStream, linkSync, lstatSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { HaliteError, messageOf } from '../../../base/errors/index.ts';
import { safeJoin } from '../../../base/util/safe-join.ts';
import { visibleLine } from '../../../base/util/visible.ts';
import { bounds } from '../sources/source.ts';
import { readTar } from './tar.ts';

export interface Unpacked {
  /** By the path of the unpacked file: what the archive says about it. */
  readonly facts: Map<string, { readonly mode: number; readonly owner: string }>;
  readonly notes: string[];
}

const refused = (what: string): HaliteError =>
  new HaliteError('path.refused', `The archive has ${what}; nothing was taken from it`);

/** `./etc/salt/master`, `/etc/salt/master` and `etc/salt/master` are the same file; `..` is refused. */
function plainName(name: string): string {
  const plain = normalize(name).replace(/^\/+/, '').replace(/\/+$/, '');
  const bad =
    name.split('/').includes('..') || /[\p{Cc}\ufffd]/u.test(name) || Buffer.byteLength(name) > bounds.pathBytes;
  if (bad || name.split('/').length > bounds.depth)
    throw refused(`an entry with a name that is not acceptable: ${visibleLine(name.slice(0, 200))}`);
  return plain;
}

export interface UnpackLimits {
  readonly files: number;
  readonly bytes: number;
}

export async function unpack(
  archive: AsyncIterable<Uint8Array>,
  folder: string,
  most: UnpackLimits = bounds,
): Promise<Unpacked> {
  const done: Unpacked = { facts: new Map(), notes: [] };
  const links: { place: string; target: string }[] = [];
  let bytes = 0;
  let entries = 0;
  for await (const { name, kind, size, mode, owner, target, content } of readTar(archive)) {
    if (++entries > most.files) throw refused(`more than ${most.files} entries`);
    bytes += size;
    if (bytes > most.bytes) throw refused(`more than ${most.bytes} bytes`);
    const plain = plainName(name);
    if (plain === '.' || plain === '') continue;
    const place = safeJoin(folder, plain);
    if (kind === 'folder') mkdirSync(place, { recursive: true, mode: 0o700 });
    else if (kind === 'link') links.push({ place, target });
    else if (kind === 'same') sameFile(done, folder, plain, target);
    else if (kind === 'other')
      done.notes.push(`${visibleLine(plain)} is neither a file nor a folder nor a symbolic link`);
    else {
      mkdirSync(dirname(place), { recursive: true, mode: 0o700 });
      await pipeline(content, createWriteStream(place, { mode: 0o600, flags: done.facts.has(place) ? 'w' : 'wx' }));
      done.facts.set(place, { mode, owner });
    }
  }
  for (const { place, target } of links) {
    try {
      if (throughLink(folder, dirname(place))) throw new Error('it would be made through another link');
      mkdirSync(dirname(place), { recursive: true, mode: 0o700 });
      symlinkSync(target, place);
    } catch (error) {
      done.notes.push(`the link ${visibleLine(place.slice(folder.length))} was left out: ${messageOf(error)}`);
    }
  }
  return done;
}

/** A second name of a file that came before. */
function sameFile({ facts, notes }: Unpacked, folder: string, plain: string, target: string): void {
  const place = safeJoin(folder, plain);
  const first = safeJoin(folder, plainName(target));
  const said = facts.get(first);
  if (!said || facts.has(place)) {
    notes.push(
      `${visibleLine(plain)} is a second name of ${visibleLine(target.slice(0, 200))}, which did not come before it`,
    );
    return;
  }
  mkdirSync(dirname(place), { recursive: true, mode: 0o700 });
  linkSync(first, place);
  facts.set(place, said);
}

/** Whether a folder below `root`, or one above it, is a symbolic link. */
function throughLink(root: string, path: string): boolean {
  let here = root;
  for (const step of path.slice(root.length).split('/').filter(Boolean)) {
    here = join(here, step);
    if (lstatSync(here, { throwIfNoEntry: false })?.isSymbolicLink()) return true;
  }
  return false;
}
