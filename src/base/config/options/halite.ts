// Option table of what Halite adds to Salt.
import type { OptionRow } from './row.ts';

export const haliteMinion = [
  {
    name: 'minimum_master_version',
    type: 'int',
    default: 3,
    since: 'Halite 0.1',
    doc: 'Oldest authentication protocol the master may speak; 2 admits masters before 3006.12 and 3007.4.',
  },
] as const satisfies readonly OptionRow[];
