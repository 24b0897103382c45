// Where a minion's files come from: its master, or its own folders when it works without one.
import type { Value } from '../../../base/codec/value.ts';
import type { MinionServices } from '../../../extend/sdk/index.ts';
import type { FileServerOpts } from '../open.ts';
import type { FileRequest } from './chunks.ts';

interface SourceParts {
  readonly opts: Readonly<Record<string, Value>>;
  readonly minion: MinionServices;
  readonly log: { warn(message: string, fields?: Readonly<Record<string, unknown>>): void };
}

/** Files of the minion's own `file_roots` are asked for like the master's: same answers, no network. */
export function fileSource(parts: SourceParts): FileRequest {
  if (parts.minion.hasMaster && parts.opts['file_client'] !== 'local') {
    return (load, options) => parts.minion.masterRequest(load, options?.raw ? { raw: true } : {});
  }
  let opened: Promise<FileRequest> | undefined;
  return async (load, options) => {
    opened ??= openLocal(parts);
    return (await opened)(load, options);
  };
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
