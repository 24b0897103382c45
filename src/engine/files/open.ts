// The file server that a configuration describes.
import { join } from 'node:path';
import type { PlainDict } from '../../base/codec/value.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { FileBackend } from './backend.ts';
import { GitBackend } from './git/backend.ts';
import { readRemotes } from './git/config.ts';
import { type Ignored, ignoreRules } from './ignore.ts';
import { RootsBackend } from './roots.ts';
import { FileServer } from './server.ts';

export interface FileServerOpts {
  /** `local` for minions that serve themselves. */
  readonly file_client?: string;
  readonly cachedir: string;
  readonly file_roots: Readonly<Record<string, readonly string[]>>;
  readonly fileserver_backend: readonly string[];
  readonly file_ignore_regex?: readonly string[] | null;
  readonly file_ignore_glob?: readonly string[] | null;
  readonly fileserver_followsymlinks: boolean;
  readonly fileserver_ignoresymlinks: boolean;
  readonly fileserver_list_cache_time?: number | null;
  readonly fileserver_verify_config?: boolean;
  readonly fileserver_events?: boolean;
  readonly roots_update_interval?: number;
  readonly hash_type: string;
  readonly file_buffer_size: number;
}

export interface FileServerHooks {
  readonly log: { warn(message: string, fields?: Readonly<Record<string, unknown>>): void };
  /** Announces an update (`fileserver_events`). */
  readonly fire?: (tag: string, data: PlainDict) => void;
}

/**
 * Opens the backends in the configured order. A broken one prevents the daemon from starting, unless that check is
 * disabled.
 */
export function openFileServer(opts: FileServerOpts, hooks: FileServerHooks): FileServer {
  const ignored = ignoreRules(opts.file_ignore_regex ?? [], opts.file_ignore_glob ?? [], (rule, why) =>
    hooks.log.warn('file_ignore_regex contains an expression that is not valid', { rule, why }),
  );
  const backends: FileBackend[] = [];
  for (const name of new Set(opts.fileserver_backend.map(String))) {
    try {
      const backend = openBackend(name, opts, ignored, hooks);
      if (backend) backends.push(backend);
      else hooks.log.warn('fileserver_backend names a backend that does not exist here', { backend: name });
    } catch (error) {
      if (opts.fileserver_verify_config !== false) throw error;
      hooks.log.warn('file server backend skipped', { backend: name, error: messageOf(error) });
    }
  }
  return new FileServer(backends, {
    hashType: opts.hash_type,
    alone: opts.file_client === 'local',
    chunkBytes: Math.max(1, opts.file_buffer_size),
    onProblem: (backend, problem) => hooks.log.warn('file server update failed', { backend, problem }),
    onUpdate: (_, data) => {
      if (opts.fileserver_events) hooks.fire?.(`salt/fileserver/${String(data['backend'])}/update`, data);
    },
  });
}

function openBackend(
  name: string,
  opts: FileServerOpts,
  ignored: Ignored,
  hooks: FileServerHooks,
): FileBackend | undefined {
  switch (name) {
    case 'roots':
      return new RootsBackend({
        name,
        fileRoots: opts.file_roots,
        ignored,
        followSymlinks: opts.fileserver_followsymlinks,
        ignoreSymlinks: opts.fileserver_ignoresymlinks,
        listCacheSeconds: opts.fileserver_list_cache_time ?? 20,
        noteChanges: opts.fileserver_events === true,
        updateSeconds: opts.roots_update_interval ?? 60,
      });
    case 'git':
    case 'gitfs':
      return new GitBackend({
        name,
        remotes: readRemotes(opts as unknown as Readonly<Record<string, unknown>>),
        folder: join(opts.cachedir, 'git'),
        ignored,
        log: hooks.log,
      });
    default:
      return undefined;
  }
}
