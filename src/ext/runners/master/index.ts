// Runner `master`: moving a master to another machine.
import { defineRunner } from 'halite/sdk';
import { handover } from './handover.ts';
import { procedures } from './procedures.ts';
import { retire } from './retire.ts';
import { rotateKeys } from './rotate-keys.ts';

export default defineRunner({
  name: 'master',
  doc: 'Move, clone, compare, retire and re-key a master.',
  functions: { ...procedures, handover, retire, rotate_keys: rotateKeys },
});
