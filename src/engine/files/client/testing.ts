// A minion's services whose master is a file server in this process, with the packing of the wire protocol in between.
import { pack, unpack } from '../../../base/codec/msgpack/index.ts';
import { newDict, type PlainDict, type Value } from '../../../base/codec/value.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import type { FileClient, MinionServices } from '../../../extend/sdk/index.ts';
import { receiveChunk } from '../receive.ts';
import { fileRequests } from '../requests.ts';
import type { FileServer } from '../server.ts';
import { testLog } from '../testing.ts';
import { createFileClient } from './client.ts';

export interface TestMaster {
  readonly services: MinionServices;
  /** Loads of every request, in order. */
  readonly asked: PlainDict[];
  /** Called before a request is answered; may wait, or fail it. */
  before: (load: PlainDict) => Promise<void> | void;
  reloads: number;
  /** Whether it gets the fields that are only for Halite masters. */
  halite: boolean;
  /** The folder for pushed files; undefined refuses them. */
  pushFolder: string | undefined;
}

export function testMaster(server: FileServer): TestMaster {
  const master: TestMaster = {
    asked: [],
    before: () => undefined,
    reloads: 0,
    halite: false,
    pushFolder: undefined,
    services: {
      hasMaster: true,
      running: async () => [],
      signalJob: async () => '',
      fire: async () => true,
      refreshGrains: async () => undefined,
      refreshPillar: async () => true,
      compilePillar: async () => newDict(),
      reloadExtensions: async () => {
        master.reloads++;
      },
      async masterRequest(load, options = {}) {
        // Strings arrive as bytes and leave as bytes, as over the network.
        const own = master.halite && options.halite ? Object.entries(options.halite) : [];
        const received = unpack(pack(newDict([...Object.entries(load), ...own]))) as PlainDict;
        master.asked.push(received);
        await master.before(received);
        return unpack(pack(await answer(server, received, master.pushFolder)), { raw: options.raw === true });
      },
    },
  };
  return master;
}

async function answer(server: FileServer, load: PlainDict, pushFolder: string | undefined): Promise<Value> {
  if (load['cmd'] === '_file_recv') {
    return pushFolder !== undefined && (await receiveChunk(load, pushFolder, 1 << 20)) === undefined;
  }
  const found = fileRequests.get(String(load['cmd']));
  if (!found) throw new HaliteError('call.unknown', `no such request: ${String(load['cmd'])}`);
  return found(server, load);
}

export function testClient(
  master: MinionServices,
  cachedir: string,
  extra: Readonly<Record<string, Value>> = {},
): FileClient {
  const opts = { cachedir, hash_type: 'sha256', ...extra };
  return createFileClient({ opts, minion: master, log: testLog(), retryMs: [0, 0, 0] });
}
