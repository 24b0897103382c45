// The option tables by command, for tests, completion and the reference; commands import only their own table.
import type { CommandSpec } from '../optparse.ts';
import { saltMasterSpec, saltMinionSpec } from './daemons.ts';
import { saltSpec } from './salt.ts';
import { saltCallSpec } from './salt-call.ts';
import { saltCpSpec } from './salt-cp.ts';
import { saltKeySpec } from './salt-key.ts';
import { saltRunSpec } from './salt-run.ts';
import { saltSshSpec } from './salt-ssh.ts';

export const commandSpecs: Readonly<Record<string, () => CommandSpec>> = {
  salt: saltSpec,
  'salt-call': saltCallSpec,
  'salt-cp': saltCpSpec,
  'salt-key': saltKeySpec,
  'salt-master': saltMasterSpec,
  'salt-minion': saltMinionSpec,
  'salt-run': saltRunSpec,
  'salt-ssh': saltSshSpec,
};
