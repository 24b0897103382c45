// Options of `halite`.
import type { CommandSpec } from '../optparse.ts';
import { basicOptions, epilogOf, outputGroup } from './shared.ts';

export const haliteSpec = (): CommandSpec => ({
  prog: 'halite',
  usage: '%prog [options] doctor | explain <minion or job id>',
  description:
    'Commands that Salt does not have. doctor: checks the master, the minion and all minions of the master from this machine and reports problems with their repair; it also works when the daemons do not. explain: everything the master knows about a minion or a job.',
  epilog: epilogOf('halite'),
  options: [...basicOptions()],
  groups: [outputGroup('halite')],
});
