// What is in a folder that one member gives to others: paths, sizes and digests, as the receiver believes them.
import { asList, asText, type Value } from '../../../base/codec/value.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import { shownId } from '../../../base/util/valid-id.ts';

export interface TreeFile {
  readonly path: string;
  readonly size: number;
  readonly mode: number;
  readonly mtimeMs: number;
  /** SHA-256, as hexadecimal digits: it names the content, and a file of the stage. */
  readonly digest: string;
}

export interface TreeFolder {
  readonly path: string;
  readonly mode: number;
}

export interface Manifest {
  readonly files: readonly TreeFile[];
  readonly folders: readonly TreeFolder[];
}

export const mostEntries = 100_000;
export const mostFileBytes = 512 * 1024 * 1024;
const mostBytes = 16 * 1024 * 1024 * 1024;
const longestPath = 1024;
const longestName = 255;
const deepest = 64;
/** Entries of one message; a path may have a kilobyte. */
export const entriesInMessage = 500;

export const isDigest = (text: string): boolean => /^[0-9a-f]{64}$/.test(text);

/** Of two members only what both have in the same form can be exchanged. */
export function isTreePath(path: string): boolean {
  // Nothing that a terminal, a shell or a line of a log takes for something else.
  if (path === '' || Buffer.byteLength(path) > longestPath || /\p{Cc}|\ufffd/u.test(path)) return false;
  const names = path.split('/');
  return (
    names.length <= deepest &&
    names.every((name) => name !== '' && name !== '.' && name !== '..' && Buffer.byteLength(name) <= longestName) &&
    !names.includes('.git')
  );
}

export const entryOf = (file: TreeFile): Value => [file.path, file.size, file.mode, file.mtimeMs, file.digest];
export const folderEntry = ({ path, mode }: TreeFolder): Value => [path, mode];

/** Collects the entries that another member tells; refuses all of them when one is wrong. */
export class ManifestReader {
  readonly #files: TreeFile[] = [];
  readonly #folders: TreeFolder[] = [];
  readonly #kinds = new Map<string, 'file' | 'folder'>();
  #bytes = 0;

  add(part: Value): void {
    const entries = asList(part);
    if (!entries || entries.length > entriesInMessage) throw refused('a list of files that is none');
    for (const entry of entries) this.#take(asList(entry) ?? []);
  }

  done(): Manifest {
    for (const path of this.#kinds.keys()) {
      for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) {
        if (this.#kinds.get(path.slice(0, at)) !== 'folder')
          throw refused(`the path '${shownId(path)}' without its folder`);
      }
    }
    return { files: this.#files, folders: this.#folders };
  }

  #take(entry: readonly Value[]): void {
    const path = asText(entry[0]);
    if (path === undefined || !isTreePath(path)) throw refused(`the path '${shownId(String(entry[0]))}'`);
    if (this.#kinds.has(path)) throw refused(`the path '${shownId(path)}' twice`);
    if (this.#kinds.size >= mostEntries) throw refused(`more than ${mostEntries} files`);
    const numbers = entry.slice(1, 4);
    if (numbers.some((number) => typeof number !== 'number' || !Number.isSafeInteger(number) || number < 0))
      throw refused(`numbers of '${shownId(path)}' that are none`);
    this.#kinds.set(path, entry.length === 2 ? 'folder' : 'file');
    if (entry.length === 2) {
      this.#folders.push({ path, mode: (numbers[0] as number) & 0o777 });
      return;
    }
    const [size = 0, mode = 0, mtimeMs = 0] = numbers as number[];
    const digest = asText(entry[4]) ?? '';
    this.#bytes += size;
    if (!isDigest(digest)) throw refused(`no digest of '${shownId(path)}'`);
    if (size > mostFileBytes || this.#bytes > mostBytes) throw refused(`'${shownId(path)}', which is too large`);
    this.#files.push({ path, size, mode: mode & 0o777, mtimeMs, digest });
  }
}

const refused = (what: string): HaliteError =>
  new HaliteError('cluster.refused', `The other master offers ${what}: nothing is taken from it`);
