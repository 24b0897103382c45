// Command `salt-syndic`.
import type { MasterOpts } from '../base/config/index.ts';
import { prepareSyndicDirs } from '../base/config/prepare-dirs.ts';
import { loadSyndicConfig } from '../base/config/syndic.ts';
import { keepHeapSmall } from '../base/util/small-heap.ts';
import { runDaemon } from './daemon.ts';
import { run } from './main.ts';
import { saltSyndicSpec } from './options/daemons.ts';

run((argv) => {
  let master: MasterOpts | undefined;
  return runDaemon(
    {
      spec: saltSyndicSpec(),
      load: (request) => {
        const loaded = loadSyndicConfig(request);
        master = loaded.master;
        return loaded;
      },
      prepare: (opts) => prepareSyndicDirs(opts),
      run: async (opts, log) => {
        const { runSyndic } = await import('../syndic/main.ts');
        keepHeapSmall();
        return runSyndic(opts, master as MasterOpts, log);
      },
    },
    argv,
  );
});
