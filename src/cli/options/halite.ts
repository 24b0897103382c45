// Options of `halite`.
import type { CommandSpec } from '../optparse.ts';
import { basicOptions, epilogOf, outputGroup } from './shared.ts';

export const haliteSpec = (): CommandSpec => ({
  prog: 'halite',
  usage: '%prog [options] doctor | explain <minion or job id>',
  description:
    'What Salt has no command for. doctor: looks at the master, the minion and the fleet from this machine and says what is wrong and what repairs it; it works when daemons do not. explain: everything the master knows about a minion or a job.',
  epilog: epilogOf('halite'),
  options: [...basicOptions()],
  groups: [outputGroup('halite')],
});
