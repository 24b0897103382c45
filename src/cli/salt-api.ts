// Command `salt-api`.
import { loadApiConfig } from '../base/config/api.ts';
import { prepareLog } from '../base/config/prepare-dirs.ts';
import { keepYoungSmall } from '../base/util/small-heap.ts';
import { runDaemon } from './daemon.ts';
import { run } from './main.ts';
import { saltApiSpec } from './options/daemons.ts';

run((argv) =>
  runDaemon(
    {
      spec: saltApiSpec(),
      load: loadApiConfig,
      // The folders belong to the master.
      prepare: (opts) => prepareLog(opts),
      run: async (opts, log) => {
        const { runApi } = await import('../api/main.ts');
        keepYoungSmall();
        return runApi(opts, log);
      },
    },
    argv,
  ),
);
