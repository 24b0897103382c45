// Command `salt-minion`.
import { loadMinionConfig } from '../base/config/index.ts';
import { runMinion } from '../minion/main.ts';
import { runDaemon } from './daemon.ts';
import { saltMinionSpec } from './options/daemons.ts';

await runDaemon({
  spec: saltMinionSpec(),
  load: (request) => loadMinionConfig({ ...request, strictIncludes: true, cacheId: true }),
  run: runMinion,
});
