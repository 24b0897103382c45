// Command `salt-master`.
import { loadMasterConfig } from '../base/config/index.ts';
import { runMaster } from '../master/main.ts';
import { runDaemon } from './daemon.ts';
import { saltMasterSpec } from './options/daemons.ts';

await runDaemon({ spec: saltMasterSpec(), load: loadMasterConfig, run: runMaster });
