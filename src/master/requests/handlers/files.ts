// File server requests of minions, and files that they push (`cp.push`, disabled unless `file_recv` is set).
import { join } from 'node:path';
import type { PlainDict, Value } from '../../../base/codec/value.ts';
import type { MasterOpts } from '../../../base/config/index.ts';
import type { Logger } from '../../../base/log/index.ts';
import { ChunkShare } from '../../../engine/files/file-chunks.ts';
import { receiveChunk } from '../../../engine/files/receive.ts';
import { fileRequests } from '../../../engine/files/requests.ts';
import type { FileServer } from '../../../engine/files/server.ts';
import { positionOf } from '../../../engine/files/server.ts';
import type { Sender } from '../sender.ts';
import type { ChunkSeal, Handler, Handlers, PackedReply } from './table.ts';

export interface FileParts {
  readonly opts: Pick<MasterOpts, 'cachedir' | 'file_recv' | 'file_recv_max_size'>;
  readonly log: Pick<Logger, 'limited'>;
  readonly files: FileServer;
}

export function fileHandlers(parts: FileParts): Handlers {
  const answers = [...fileRequests].map(([command, answer]): [string, Handler] => [
    command,
    { run: (load) => answer(parts.files, load) },
  ]);
  const share = new ChunkShare();
  const answerFile = fileRequests.get('_serve_file')!;
  const serve: Handler = {
    run: (load, sender, seal) => serveChunk(parts, load, sender, share, seal) ?? answerFile(parts.files, load),
  };
  return {
    ...Object.fromEntries(answers),
    _serve_file: serve,
    _file_recv: { run: (load, sender) => receive(parts, load, sender) },
  };
}

/** For minions that request chunks in Halite's own format; undefined for all others. */
function serveChunk(
  parts: FileParts,
  load: PlainDict,
  { id }: Sender,
  share: ChunkShare,
  seal: ChunkSeal | undefined,
): Promise<PackedReply> | undefined {
  const { path, saltenv, chunk, gzip } = load;
  if (!seal || typeof chunk !== 'number' || typeof path !== 'string' || typeof saltenv !== 'string') return undefined;
  if (!Number.isSafeInteger(chunk) || chunk < 1 || gzip) return undefined;
  const loc = positionOf(load['loc']);
  const most = Math.min(chunk, share.size(id));
  return parts.files.chunk(path, saltenv, loc, most, (buffer) => seal(buffer, { path, saltenv, loc }));
}

/** Chunks are written below `cachedir/minions/<id>/files`; true when one was stored. */
async function receive({ opts, log }: FileParts, load: PlainDict, sender: Sender): Promise<Value> {
  const folder = join(opts.cachedir, 'minions', sender.id, 'files');
  const why = opts.file_recv
    ? await receiveChunk(load, folder, opts.file_recv_max_size * 1024 * 1024)
    : 'file_recv is off';
  if (why) log.limited(`recv:${sender.id}`, 'warn', 'pushed file refused', { minion: sender.id, why });
  return why === undefined;
}
