// The file server as runners see it.
import { newDict, type Value } from '../../base/codec/value.ts';
import type { FileServerView } from '../../extend/sdk/index.ts';
import type { FileServer } from './server.ts';

export function fileServerView(server: FileServer): FileServerView {
  return {
    envs: (backend) => server.envs(backend),
    backends: (backend) => server.backends(backend).map(({ name }) => name),
    list: async (kind, saltenv, backend) => [...(await server.lists(saltenv, backend))[kind]],
    symlinks: async (saltenv, backend) =>
      newDict(Object.entries((await server.lists(saltenv, backend)).links) as [string, Value][]),
    update: (backend, remotes) => server.update(backend, remotes),
    forgetLists: async (saltenvs, backend) => Object.fromEntries(server.forgetLists(saltenvs, backend)),
    clearCache: (backend) => server.clearCache(backend),
    lock: (backend, remote) => server.lock(backend, remote),
    clearLock: (backend, remote) => server.clearLock(backend, remote),
  };
}
