// Options of `salt-master`, `salt-minion`, `salt-proxy`, `salt-syndic` and `salt-api`.
import type { CommandSpec } from '../optparse.ts';
import { basicOptions, daemonOptions, epilogOf, loggingGroup, proxyIdOption, userOption } from './shared.ts';

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

export const saltApiSpec = (): CommandSpec =>
  daemonSpec(
    'salt-api',
    'The API: answers HTTP requests with calls to the master, in the name of those who ask.',
    '/var/log/salt/api',
  );

export const saltMinionSpec = (): CommandSpec =>
  daemonSpec('salt-minion', 'The minion: connects to its masters and runs the jobs they send.', '/var/log/salt/minion');

export const saltProxySpec = (): CommandSpec => {
  const spec = daemonSpec(
    'salt-proxy',
    'The proxy minion: stands for a device that cannot run a minion itself.',
    '/var/log/salt/proxy',
  );
  return { ...spec, options: [proxyIdOption, ...spec.options] };
};

export const saltSyndicSpec = (): CommandSpec =>
  daemonSpec(
    'salt-syndic',
    'The syndic: takes jobs of higher masters to the master of this machine, and their results back.',
    '/var/log/salt/syndic',
  );
