// Options of `salt-master` and `salt-minion`.
import type { CommandSpec } from '../optparse.ts';
import { basicOptions, daemonOptions, epilogOf, loggingGroup, userOption } from './shared.ts';

const daemonSpec = (prog: string, description: string, logFile: string): CommandSpec => ({
  prog,
  usage: '%prog [options]',
  description,
  epilog: epilogOf(prog),
  options: [...basicOptions(), userOption(prog), ...daemonOptions(prog)],
  groups: [loggingGroup({ logFile })],
});

export const saltMasterSpec = (): CommandSpec =>
  daemonSpec(
    'salt-master',
    'The master: accepts minions, sends them jobs and stores their results.',
    '/var/log/salt/master',
  );

export const saltMinionSpec = (): CommandSpec =>
  daemonSpec('salt-minion', 'The minion: connects to its masters and runs the jobs they send.', '/var/log/salt/minion');
