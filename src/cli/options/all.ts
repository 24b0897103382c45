// The option tables of all commands, for what is made from them: completion and manual pages.
import type { CommandSpec } from '../optparse.ts';
import { saltApiSpec, saltMasterSpec, saltMinionSpec, saltProxySpec, saltSyndicSpec } from './daemons.ts';
import { haliteSpec } from './halite.ts';
import { saltSpec } from './salt.ts';
import { saltCallSpec } from './salt-call.ts';
import { saltCpSpec } from './salt-cp.ts';
import { saltFleetSpec } from './salt-fleet.ts';
import { saltKeySpec } from './salt-key.ts';
import { saltRunSpec } from './salt-run.ts';
import { saltSshSpec } from './salt-ssh.ts';

export const commandSpecs: ReadonlyMap<string, () => CommandSpec> = new Map([
  ['salt', saltSpec],
  ['salt-call', saltCallSpec],
  ['salt-cp', saltCpSpec],
  ['salt-key', saltKeySpec],
  ['salt-run', saltRunSpec],
  ['salt-ssh', saltSshSpec],
  ['salt-master', saltMasterSpec],
  ['salt-minion', saltMinionSpec],
  ['salt-proxy', saltProxySpec],
  ['salt-syndic', saltSyndicSpec],
  ['salt-api', saltApiSpec],
  ['salt-fleet', saltFleetSpec],
  ['halite', haliteSpec],
]);
