// Command `salt-minion`.
import { setFlagsFromString } from 'node:v8';
import { loadMinionConfig } from '../base/config/minion.ts';
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
        // A minion has little to do at a time: a large nursery of the heap would only be memory taken from its machine.
        setFlagsFromString('--semi-space-growth-factor=1');
        return runMinion(opts, log);
      },
    },
    argv,
  ),
);
