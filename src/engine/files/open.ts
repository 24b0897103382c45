// The file server that a configuration describes.
import type { FileBackend } from './backend.ts';
import { ignoreRules } from './ignore.ts';
import { RootsBackend } from './roots.ts';
import { FileServer } from './server.ts';

export interface FileServerOpts {
  readonly file_roots: Readonly<Record<string, readonly string[]>>;
  readonly fileserver_backend: readonly string[];
  readonly file_ignore_regex?: readonly string[] | null;
  readonly file_ignore_glob?: readonly string[] | null;
  readonly fileserver_followsymlinks: boolean;
  readonly fileserver_ignoresymlinks: boolean;
  readonly fileserver_list_cache_time?: number;
  readonly hash_type: string;
  readonly file_buffer_size: number;
}

/** Opens the backends in the configured order; a name nobody knows is given to `unknown`, to be said once. */
export function openFileServer(opts: FileServerOpts, unknown: (name: string) => void): FileServer {
  const ignored = ignoreRules(opts.file_ignore_regex ?? [], opts.file_ignore_glob ?? []);
  const backends: FileBackend[] = [];
  for (const name of opts.fileserver_backend) {
    if (name === 'roots' || name === 'file') {
      backends.push(
        new RootsBackend({
          fileRoots: opts.file_roots,
          ignored,
          followSymlinks: opts.fileserver_followsymlinks,
          ignoreSymlinks: opts.fileserver_ignoresymlinks,
          listCacheSeconds: opts.fileserver_list_cache_time ?? 20,
        }),
      );
    } else unknown(name);
  }
  return new FileServer(backends, { hashType: opts.hash_type, chunkBytes: opts.file_buffer_size });
}
