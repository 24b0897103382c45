// The source of a minion's files: its master, or its own folders when it works without one.
import type { Value } from '../../../base/codec/value.ts';
import type { FileSlice, MinionServices } from '../../../extend/sdk/index.ts';
import type { FileServerOpts } from '../open.ts';
import type { FileRequest } from './chunks.ts';

interface SourceParts {
  readonly opts: Readonly<Record<string, Value>>;
  readonly minion: MinionServices;
  readonly log: { warn(message: string, fields?: Readonly<Record<string, unknown>>): void };
}

export interface FileSource {
  readonly send: FileRequest;
  /** Present when the connection is in another process: that process then writes large files itself. */
  readonly fetchSlice?: ((slice: FileSlice) => Promise<number>) | undefined;
}

/** Files of the minion's own `file_roots` are requested like the master's: same answers, no network. */
export function fileSource(parts: SourceParts): FileSource {
  const { minion } = parts;
  if (minion.hasMaster && parts.opts['file_client'] !== 'local') {
    return {
      send: (load, options) => minion.masterRequest(load, options),
      fetchSlice: minion.fetchSlice && ((slice) => minion.fetchSlice!(slice)),
    };
  }
  let opened: Promise<FileRequest> | undefined;
  const send: FileRequest = async (load, options) => {
    opened ??= openLocal(parts);
    return (await opened)(load, options);
  };
  return { send };
}

async function openLocal({ opts, log }: SourceParts): Promise<FileRequest> {
  const [{ openFileServer }, { fileRequests }] = await Promise.all([import('../open.ts'), import('../requests.ts')]);
  const server = openFileServer(opts as unknown as FileServerOpts, { log });
  await server.update();
  return async (load) => {
    const answer = fileRequests.get(String(load['cmd']));
    return answer ? answer(server, load) : {};
  };
}
