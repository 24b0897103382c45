import { join } from 'node:path';
import { loadMasterConfig } from '../../base/config/index.ts';
import type { OldMaster } from './old-master.ts';
import { FolderSource } from './sources/folder.ts';

/** The master of this machine, in the form of one that is read from elsewhere. */
export async function thisMaster(configDir: string): Promise<OldMaster> {
  const source = new FolderSource({ name: 'this machine', configDir, root: '/' });
  const config = loadMasterConfig({ configDir });
  const halite = (await source.list([join(config.opts.cachedir, 'halite.db')])).length > 0;
  const files = await source.list([join(configDir, 'master'), join(configDir, 'master.d')]);
  return {
    source,
    config,
    files,
    host: '',
    program: halite ? 'Halite' : 'Salt',
    withValues: (overrides) => loadMasterConfig({ configDir, overrides }),
  };
}
