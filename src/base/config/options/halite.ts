// Option table of what Halite adds to Salt.
import type { OptionRow } from './row.ts';

export const haliteMaster = [
  {
    name: 'keep_jobs_mb',
    type: 'int',
    default: 4096,
    since: 'Halite 0.1',
    doc: 'Size in MB above which the oldest jobs are removed from the built-in job store; 0 means no limit.',
  },
  {
    name: 'keep_events',
    type: 'int',
    default: 10_000,
    since: 'Halite 0.1',
    doc: 'How many events the built-in job store keeps (view `salt_events`); 0 keeps none.',
  },
  {
    name: 'spool_mb',
    type: 'int',
    default: 1024,
    since: 'Halite 0.1',
    doc: 'Size in MB that each spool may reach while its returner is unavailable; after that, new records are kept only in the built-in job store.',
  },
  {
    name: 'max_pending_keys',
    type: 'int',
    default: 20_000,
    since: 'Halite 0.1',
    doc: 'Maximum number of keys that wait for acceptance; further new minions are asked to try again later and are not stored. 0 means no limit.',
  },
  {
    name: 'return_via_master',
    type: ['bool', 'list'],
    default: true,
    since: 'Halite 0.1',
    doc: 'Results of minions with `return_via_master` are handed to the returners they name: all, none, or those in the list.',
  },
] as const satisfies readonly OptionRow[];

export const haliteMinion = [
  {
    name: 'minimum_master_version',
    type: 'int',
    default: 3,
    since: 'Halite 0.1',
    doc: 'Oldest authentication protocol the master may speak; 2 admits masters before 3006.12 and 3007.4.',
  },
  {
    name: 'return_via_master',
    type: 'bool',
    default: false,
    since: 'Halite 0.1',
    doc: 'The master hands results to returners on behalf of this minion, which needs no driver and no password.',
  },
] as const satisfies readonly OptionRow[];
