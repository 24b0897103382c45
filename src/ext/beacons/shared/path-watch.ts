// Watches a file or a folder, on request with its sub-folders, and collects the changes.

import { basename, join } from 'node:path';
import { type FSWatcher, lstatSync, readdir, type Stats, stat, watch } from 'halite/sdk/fs';
import { type ChangeName, cameFromElsewhere, changedHow, type FileChange, type Seen, seenOf } from './file-changes.ts';

export interface WatchOptions {
  readonly wanted: ReadonlySet<string>;
  readonly recurse: boolean;
  readonly autoAdd: boolean;
  readonly onlyFolders: boolean;
  /** Folders that are not watched. */
  readonly skips: (path: string) => boolean;
}

interface Folder {
  readonly path: string;
  readonly watcher: FSWatcher;
  readonly seen: Map<string, Seen>;
  /** Names that changed and must be checked. */
  readonly touched: Set<string>;
}

/** Maximum number of unread changes; further ones are dropped. */
const mostChanges = 10_000;
/** A file that was not written to for this long counts as closed. */
const closedAfterMs = 250;

/** Synchronous, because that takes a tenth of the time for a large tree; yields to the event loop between folders. */
function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

export class PathWatch {
  readonly #root: string;
  readonly #options: WatchOptions;
  readonly #folders = new Map<string, Folder>();
  readonly #moved = new Map<string, FileChange>();
  readonly #closing = new Map<string, NodeJS.Timeout>();
  #file: { readonly watcher: FSWatcher; seen: Seen } | undefined;
  #changes: FileChange[] = [];
  #working: Promise<void> = Promise.resolve();
  #failure: unknown;
  #closed = false;

  constructor(root: string, options: WatchOptions) {
    this.#root = root;
    this.#options = options;
  }

  /** Starts to watch when the path exists; called again until it does. */
  start(): Promise<void> {
    return this.#next(async () => {
      if (this.#file || this.#folders.has(this.#root)) return;
      const stats = await stat(this.#root).catch(() => undefined);
      if (!stats) return;
      if (stats.isDirectory()) await this.#addFolder(this.#root, this.#options.recurse, false);
      else if (!this.#options.onlyFolders) this.#addFile(seenOf(stats));
    });
  }

  /** The changes since the last call. */
  async take(): Promise<FileChange[]> {
    await this.start();
    if (this.#failure !== undefined) {
      const failure = this.#failure;
      this.#failure = undefined;
      throw failure;
    }
    const taken = this.#changes.filter((change) => this.#isWanted(change.name));
    for (const change of this.#changes) delete change.vanished;
    this.#changes = [];
    if (this.#moved.size > mostChanges) this.#moved.clear();
    return taken;
  }

  close(): void {
    this.#closed = true;
    this.#file?.watcher.close();
    this.#file = undefined;
    for (const folder of this.#folders.values()) folder.watcher.close();
    for (const timer of this.#closing.values()) clearTimeout(timer);
    this.#folders.clear();
    this.#closing.clear();
  }

  /** Checks run one after the other, in the order of the changes. */
  #next(work: () => Promise<void>): Promise<void> {
    this.#working = this.#working.then(async () => {
      if (!this.#closed) await work();
    });
    this.#working = this.#working.catch((error: unknown) => {
      this.#failure ??= error;
    });
    return this.#working;
  }

  #isWanted(name: ChangeName): boolean {
    return name === 'ignored' || this.#options.wanted.has(name);
  }

  #push(folder: string, path: string, name: ChangeName, isDir: boolean): FileChange {
    const change: FileChange = { folder, path, name, isDir };
    if (this.#changes.length < mostChanges) this.#changes.push(change);
    return change;
  }

  #watcher(path: string, onEvent: (name: string | null) => void): FSWatcher {
    const made = watch(path, { persistent: false }, (_, name) => onEvent(name));
    made.on('error', () => undefined);
    return made;
  }

  async #addFolder(path: string, deep: boolean, announce: boolean): Promise<void> {
    if (this.#folders.has(path) || (path !== this.#root && this.#options.skips(path))) return;
    const folder: Folder = {
      path,
      seen: new Map(),
      touched: new Set(),
      watcher: this.#watcher(path, (name) => this.#touch(folder, name)),
    };
    this.#folders.set(path, folder);
    for (const name of await readdir(path).catch((): string[] => [])) {
      const stats = statOf(join(path, name));
      if (!stats) continue;
      if (announce) await this.#appeared(folder, name, stats);
      else folder.seen.set(name, seenOf(stats));
      if (deep && stats.isDirectory()) await this.#addFolder(join(path, name), true, announce);
    }
  }

  #touch(folder: Folder, name: string | null): void {
    const names = name === null ? [...folder.seen.keys()] : [name];
    for (const one of names) {
      if (folder.touched.has(one)) continue;
      folder.touched.add(one);
      void this.#next(async () => {
        folder.touched.delete(one);
        if (this.#folders.get(folder.path) === folder) await this.#look(folder, one);
      });
    }
  }

  async #look(folder: Folder, name: string): Promise<void> {
    const before = folder.seen.get(name);
    const stats = statOf(join(folder.path, name));
    if (!stats) {
      if (before) this.#vanished(folder, name, before);
      // The removal of a folder is reported under its own name.
      if (name === basename(folder.path) && !statOf(folder.path)) this.#dropFolder(folder);
      return;
    }
    const now = seenOf(stats);
    if (!before || before.identity !== now.identity) return this.#appeared(folder, name, stats, before);
    folder.seen.set(name, now);
    const how = changedHow(before, now);
    if (how) this.#tell(folder, name, how, now.isDir);
  }

  async #appeared(folder: Folder, name: string, stats: Stats, before?: Seen): Promise<void> {
    const path = join(folder.path, name);
    const now = seenOf(stats);
    folder.seen.set(name, now);
    const from = this.#moved.get(now.identity);
    this.#moved.delete(now.identity);
    if (from?.vanished === now.identity) from.name = 'moved_from';
    const isMove = from !== undefined || cameFromElsewhere(stats);
    // A file that replaced another one was usually renamed; it is also reported to users who do not watch for renames.
    const replaced = before !== undefined && !isMove;
    const how: ChangeName = isMove || (replaced && this.#options.wanted.has('moved_to')) ? 'moved_to' : 'create';
    this.#tell(folder, name, how, now.isDir);
    if (how === 'create' && !now.isDir && now.size > 0) this.#tell(folder, name, 'modify', false);
    if (now.isDir && this.#options.autoAdd) await this.#addFolder(path, true, how === 'create');
  }

  #vanished(folder: Folder, name: string, before: Seen): void {
    const path = join(folder.path, name);
    folder.seen.delete(name);
    // Without another name of the file it is unknown whether it was removed or moved away.
    const how = this.#options.wanted.has('delete') ? 'delete' : 'moved_from';
    const change = this.#push(folder.path, path, how, before.isDir);
    change.vanished = before.identity;
    this.#moved.set(before.identity, change);
    const inner = this.#folders.get(path);
    if (inner) this.#dropFolder(inner);
  }

  #tell(folder: Folder, name: string, how: ChangeName, isDir: boolean): void {
    const path = join(folder.path, name);
    this.#push(folder.path, path, how, isDir);
    if (!isDir && (how === 'modify' || how === 'create')) this.#willClose(folder.path, path);
  }

  /** Node does not report closed files: a pause without writes is used instead. */
  #willClose(folder: string, path: string): void {
    if (!this.#options.wanted.has('close_write')) return;
    clearTimeout(this.#closing.get(path));
    const timer = setTimeout(() => {
      this.#closing.delete(path);
      this.#push(folder, path, 'close_write', false);
    }, closedAfterMs).unref();
    this.#closing.set(path, timer);
  }

  #dropFolder(folder: Folder): void {
    if (this.#folders.get(folder.path) !== folder) return;
    this.#folders.delete(folder.path);
    folder.watcher.close();
    this.#gone(folder.path, true);
    for (const inner of [...this.#folders.values()])
      if (inner.path.startsWith(`${folder.path}/`)) this.#dropFolder(inner);
  }

  #gone(path: string, isDir: boolean): void {
    this.#push(path, path, this.#options.wanted.has('delete_self') ? 'delete_self' : 'move_self', isDir);
    this.#push(path, path, 'ignored', false);
  }

  #addFile(seen: Seen): void {
    const watcher = this.#watcher(this.#root, () => void this.#next(() => this.#lookAtFile()));
    this.#file = { watcher, seen };
  }

  async #lookAtFile(): Promise<void> {
    if (!this.#file) return;
    const { seen: before, watcher } = this.#file;
    const stats = await stat(this.#root).catch(() => undefined);
    const now = stats && seenOf(stats);
    if (now?.identity === before.identity) {
      this.#file.seen = now;
      const how = changedHow(before, now);
      if (how) this.#push(this.#root, this.#root, how, false);
      if (how === 'modify') this.#willClose(this.#root, this.#root);
      return;
    }
    watcher.close();
    this.#file = undefined;
    this.#gone(this.#root, false);
    if (now && !now.isDir) this.#addFile(now);
  }
}
