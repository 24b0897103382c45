// Users' files by the names that they provide, of one loader.
import type { Value } from '../../base/codec/value.ts';
import type { Kind } from './kinds.ts';
import { findUserFiles, type UserFile, userFolders } from './user-folders.ts';
import { importUserFile } from './user-import.ts';

export interface UserFilesOptions {
  readonly opts: () => Readonly<Record<string, Value>>;
  readonly userCode: 'import' | 'names';
  readonly sdkUrl?: string;
}

type ByName = ReadonlyMap<string, readonly UserFile[]>;

export class UserFiles {
  readonly #options: UserFilesOptions;
  readonly #files = new Map<Kind, Promise<UserFile[]>>();
  readonly #names = new Map<Kind, Promise<ByName>>();

  constructor(options: UserFilesOptions) {
    this.#options = options;
  }

  /** Several files in Python may provide one name, function by function. */
  byName(kind: Kind): Promise<ByName> {
    let names = this.#names.get(kind);
    if (!names) {
      names = this.#readNames(kind);
      this.#names.set(kind, names);
    }
    return names;
  }

  /** Files in Python that may have any name, because their `__virtual__` computes it. */
  async dynamic(kind: Kind): Promise<readonly UserFile[]> {
    return (await this.files(kind)).filter((file) => file.python?.dynamic === true);
  }

  /** Only what is in Python, for workers that call other files directly. */
  async python(kind: Kind): Promise<ByName> {
    const found = new Map<string, readonly UserFile[]>();
    for (const [name, files] of await this.byName(kind)) {
      const python = files.filter((file) => file.python !== undefined);
      // A port in TypeScript replaces what has its name.
      if (python.length > 0 && python.length === files.length) found.set(name, python);
    }
    return found;
  }

  /** All files of a kind, each once. */
  files(kind: Kind): Promise<UserFile[]> {
    let files = this.#files.get(kind);
    if (!files) {
      files = findUserFiles(userFolders(this.#options.opts(), kind));
      this.#files.set(kind, files);
    }
    return files;
  }

  /** A virtual name in TypeScript is known only after the import; in Python the text of the file tells. */
  async #readNames(kind: Kind): Promise<ByName> {
    const names = new Map<string, UserFile[]>();
    const files = await this.files(kind);
    for (const file of files.filter(({ python }) => !python)) names.set(await this.#nameOf(kind, file), [file]);
    for (const file of files) {
      for (const name of file.python?.names ?? []) {
        const before = names.get(name);
        if (!before) names.set(name, [file]);
        else if (before.every(({ python }) => python)) before.push(file);
      }
    }
    return names;
  }

  async #nameOf(kind: Kind, file: UserFile): Promise<string> {
    if (this.#options.userCode !== 'import') return file.name;
    const extension = await importUserFile(kind, file, this.#options.sdkUrl).catch(() => undefined);
    const virtual = (extension as { virtualName?: unknown } | undefined)?.virtualName;
    return typeof virtual === 'string' ? virtual : file.name;
  }
}
