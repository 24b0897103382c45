// Command `salt-master`.
import { loadMasterConfig } from '../base/config/master.ts';
import { boundGarbage } from '../base/util/small-heap.ts';
import { runDaemon } from './daemon.ts';
import { run } from './main.ts';
import { saltMasterSpec } from './options/daemons.ts';

run((argv) =>
  runDaemon(
    {
      spec: saltMasterSpec(),
      load: loadMasterConfig,
      // Imported only when needed: --version and configuration errors are answered without it.
      run: async (opts, log) => {
        const { runMaster } = await import('../master/main.ts');
        boundGarbage();
        return runMaster(opts, log);
      },
    },
    argv,
  ),
);
