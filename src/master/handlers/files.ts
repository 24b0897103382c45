// File server requests of minions, and files they push (`cp.push`, off unless `file_recv` is set).
import { join } from 'node:path';
import type { PlainDict, Value } from '../../base/codec/value.ts';
import { receivePiece } from '../../engine/files/receive.ts';
import { fileRequests } from '../../engine/files/requests.ts';
import type { Master, Sender } from '../core.ts';
import type { Handler, Handlers } from './table.ts';

export function fileHandlers(master: Master): Handlers {
  const answers = [...fileRequests].map(([command, answer]): [string, Handler] => [
    command,
    { run: (load) => answer(master.files, load) },
  ]);
  return { ...Object.fromEntries(answers), _file_recv: { run: (load, sender) => receive(master, load, sender) } };
}

/** Pieces land below `cachedir/minions/<id>/files`; true when one was stored. */
async function receive({ opts, log }: Master, load: PlainDict, sender: Sender): Promise<Value> {
  const folder = join(opts.cachedir, 'minions', sender.id, 'files');
  const why = opts.file_recv
    ? await receivePiece(load, folder, opts.file_recv_max_size * 1024 * 1024)
    : 'file_recv is off';
  if (why) log.limited(`recv:${sender.id}`, 'warn', 'pushed file refused', { minion: sender.id, why });
  return why === undefined;
}
