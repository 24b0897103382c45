// Command `salt-minion`.
import { loadMinionConfig } from '../base/config/minion.ts';
import { keepHeapSmall } from '../base/util/small-heap.ts';
import { runDaemon } from './daemon.ts';
import { run } from './main.ts';
import { saltMinionSpec } from './options/daemons.ts';

run((argv) =>
  runDaemon(
    {
      spec: saltMinionSpec(),
      load: (request) => loadMinionConfig({ ...request, strictIncludes: true, cacheId: true }),
      run: async (opts, log) => {
        const { runMinion } = await import('../minion/main.ts');
        keepHeapSmall();
        return runMinion(opts, log);
      },
    },
    argv,
  ),
);
