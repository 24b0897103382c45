// The installation that is checked: a configuration folder of this machine, the copy of a disk, or an archive. What it
// contains is untrusted: links lead nowhere outside, sizes and numbers are bounded, and nothing of it is run.
import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { HaliteError } from '../../../../base/errors/index.ts';
import { archiveSource } from '../../../moving/sources/archive.ts';
import { FolderSource } from '../../../moving/sources/folder.ts';
import { placeBelow } from '../../../moving/sources/inside.ts';

/** Above what people have; the rest is not read, and the report says so. */
const most = {
  files: 50_000,
  depth: 32,
  fileBytes: 1024 * 1024,
  bytes: 512 * 1024 * 1024,
  archive: { files: 200_000, bytes: 2 * 1024 ** 3 },
};

export class Installation {
  readonly source: FolderSource;
  readonly root: string;
  readonly notes: string[] = [];
  #files = 0;
  #bytes = 0;

  constructor(source: FolderSource, root: string) {
    this.source = source;
    this.root = root;
  }

  get configDir(): string {
    return this.source.configDir;
  }

  isFolder(path: string): boolean {
    const place = placeBelow(this.root, path);
    return place !== undefined && statSync(place, { throwIfNoEntry: false })?.isDirectory() === true;
  }

  /** The file on this machine's disk, when there is a regular one. */
  placeOf(path: string): string | undefined {
    const place = placeBelow(this.root, path);
    return place !== undefined && statSync(place, { throwIfNoEntry: false })?.isFile() ? place : undefined;
  }

  /** The text of a file; undefined when there is none, it is too large, or it is no text. */
  read(path: string): string | undefined {
    const place = this.placeOf(path);
    if (place === undefined) return undefined;
    const { size } = statSync(place);
    if (size > most.fileBytes) {
      this.#note(`${path} was not read: it is larger than ${most.fileBytes / 1024 ** 2} MiB`);
      return undefined;
    }
    this.#bytes += size;
    if (this.#bytes > most.bytes) {
      this.#note(`not everything was read: the files have more than ${most.bytes / 1024 ** 2} MiB together`);
      return undefined;
    }
    const text = textOf(place);
    return text?.includes('\0') ? undefined : text;
  }

  /** Files below a folder, in a fixed order. */
  *files(folder: string, depth = 0): Generator<string> {
    const place = placeBelow(this.root, folder);
    if (place === undefined || !statSync(place, { throwIfNoEntry: false })?.isDirectory()) return;
    if (depth > most.depth) return this.#note(`${folder} was not read: it is deeper than ${most.depth} folders`);
    let names: string[];
    try {
      names = readdirSync(place).sort();
    } catch {
      return this.#note(`${folder} could not be read`);
    }
    for (const name of names) {
      const path = join(folder, name);
      if (++this.#files > most.files)
        return this.#note(`not everything was read: there are more than ${most.files} files`);
      const inside = placeBelow(this.root, path);
      const stat = inside === undefined ? undefined : statSync(inside, { throwIfNoEntry: false });
      if (stat?.isFile()) yield path;
      else if (stat?.isDirectory() && name !== '.git' && name !== 'node_modules') yield* this.files(path, depth + 1);
    }
  }

  #note(text: string): void {
    if (this.notes.length < 50 && !this.notes.includes(text)) this.notes.push(text);
  }

  close(): Promise<void> {
    return this.source.close();
  }
}

/** At most the bytes that `most` allows, also of a file that grows. */
function textOf(place: string): string | undefined {
  try {
    const handle = openSync(place, 'r');
    try {
      const bytes = Buffer.alloc(most.fileBytes);
      return bytes.toString('utf8', 0, readSync(handle, bytes, 0, bytes.length, 0));
    } finally {
      closeSync(handle);
    }
  } catch {
    return undefined;
  }
}

export interface Opening {
  /** A folder, an archive, or `live`. */
  readonly name: string;
  /** The configuration folder of this machine, or the one inside an archive. */
  readonly configDir: string;
  /** The configuration folder inside an archive. */
  readonly inside: string;
  readonly root: string;
  readonly scratch: string;
}

export async function openInstallation({ name, configDir, inside, root, scratch }: Opening): Promise<Installation> {
  if (name === '' || name === 'live')
    return new Installation(new FolderSource({ name: 'this machine', configDir, root: '/' }), '/');
  const stat = statSync(name, { throwIfNoEntry: false });
  if (stat?.isFile()) {
    const source = await archiveSource({ file: name, configDir: inside, scratch, most: most.archive });
    return new Installation(source, source.root);
  }
  if (!stat?.isDirectory())
    throw new HaliteError('config.missing', `${name} is neither a folder nor an archive`, {
      hint: 'An installation on another host: tar czf old.tar.gz -C / etc/salt srv there, and check the archive.',
    });
  const folder = resolve(name);
  const top = root === '/' ? undefined : resolve(root);
  if (top !== undefined && folder.startsWith(`${top}/`))
    return new Installation(new FolderSource({ name: folder, configDir: folder.slice(top.length), root: top }), top);
  // The copy of a disk: paths in its configuration are meant below it.
  if (statSync(join(folder, inside), { throwIfNoEntry: false })?.isDirectory())
    return new Installation(new FolderSource({ name: folder, configDir: inside, root: folder }), folder);
  return new Installation(new FolderSource({ name: folder, configDir: folder, root: '/' }), '/');
}
