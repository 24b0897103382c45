// What programs with Salt's Python library need of a master: a socket whose file shows that there is one, the events as
// a stream, a socket for events of their own, and the files of the jobs that they publish. It costs nothing while no
// program connects.
import { chmodSync, statSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import type { MasterOpts } from '../../base/config/index.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import type { EventFraming } from '../../protocol/wire/event-socket/frames.ts';
import { claimSocket } from '../../protocol/wire/ipc/socket-file.ts';
import { type EventReaderParts, EventReaders } from './event-readers.ts';
import { type FiredEventParts, FiredEvents } from './fired-events.ts';
import { framingOf, installedVersions } from './installed.ts';
import { JobFiles } from './job-files.ts';

/** How long the search for the installed release is not repeated. */
const rememberedMs = 30_000;
const ownerOnly = 0o600;
const ownerAndGroup = 0o660;

export interface LibraryParts {
  readonly opts: Pick<
    MasterOpts,
    'raw' | 'sock_dir' | 'cachedir' | 'hash_type' | 'user' | 'salt_library_sockets' | 'event_socket_framing'
  >;
  readonly log: Pick<Logger, 'limited' | 'warn'>;
  readonly bus: EventReaderParts['bus'] & FiredEventParts['bus'];
  readonly keyChanges: FiredEventParts['keyChanges'];
  readonly keepSeconds: number;
  /** Whether users without full rights may use this master. */
  readonly shared: boolean;
}

export interface SaltLibrary {
  readonly files: Pick<JobFiles, 'saveJob' | 'saveReturn'>;
  close(): Promise<void>;
}

/** Undefined when it is switched off. */
export async function openSaltLibrary(parts: LibraryParts): Promise<SaltLibrary | undefined> {
  const { opts, shared } = parts;
  const framing = framingChoice(parts);
  if (!opts.salt_library_sockets) return undefined;
  const readers = new EventReaders({ ...parts, framing });
  const fired = new FiredEvents(parts);
  const files = new JobFiles(parts);
  const opened = [
    // Programs only look whether the file exists.
    await listen(join(opts.sock_dir, 'publish_pull.ipc'), ownerOnly, (socket) => socket.destroy()),
    await listen(join(opts.sock_dir, 'master_event_pub.ipc'), shared ? ownerAndGroup : ownerOnly, (socket) =>
      readers.add(socket),
    ),
    await listen(join(opts.sock_dir, 'master_event_pull.ipc'), ownerOnly, (socket) => fired.add(socket)),
  ];
  if (shared) letPass(parts);
  return {
    files,
    close: async () => {
      files.stop();
      readers.close();
      fired.close();
      await Promise.all(opened.map((close) => close()));
    },
  };
}

async function listen(path: string, mode: number, take: (socket: Socket) => void): Promise<() => Promise<void>> {
  const server = createServer(take);
  const release = await claimSocket(server, path, mode);
  return async () => {
    await release();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
}

/** As Salt: users with rights of their own must reach the sockets; what they may do with each, its mode says. */
function letPass({ opts, log }: LibraryParts): void {
  try {
    const mode = statSync(opts.sock_dir).mode & 0o7777;
    if (!(mode & 0o001)) chmodSync(opts.sock_dir, mode | 0o001);
  } catch (error) {
    log.warn('users of publisher_acl may not reach the sockets of this master', { error: messageOf(error) });
  }
}

function framingChoice({ opts, log }: LibraryParts): () => EventFraming {
  const chosen = opts.event_socket_framing;
  if (chosen === 'length' || chosen === 'stream') return () => chosen;
  if (chosen !== 'auto')
    throw new HaliteError('config.value', `event_socket_framing is '${chosen}'`, {
      hint: 'Choose auto, length or stream.',
    });
  let known: { readonly framing: EventFraming; readonly at: number } | undefined;
  return () => {
    if (known && Date.now() - known.at < rememberedMs) return known.framing;
    const versions = installedVersions();
    const framings = new Set(versions.map(framingOf));
    if (framings.size > 1)
      log.limited('event-framing', 'warn', 'releases of Salt that frame events differently are installed here', {
        ...{ versions: versions.join(', '), advice: 'set event_socket_framing' },
      });
    known = { framing: framings.has('stream') || framings.size === 0 ? 'stream' : 'length', at: Date.now() };
    return known.framing;
  };
}
