// Options of `salt-cp`.
import type { CommandSpec } from '../optparse.ts';
import {
  basicOptions,
  epilogOf,
  hardCrashOption,
  loggingGroup,
  outputGroup,
  targetGroups,
  timeoutOption,
} from './shared.ts';

export const saltCpSpec = (): CommandSpec => ({
  prog: 'salt-cp',
  usage: "%prog [options] '<target>' SOURCE DEST",
  description: 'Copies files from the master to minions. Meant for configuration files, not for large data.',
  epilog: epilogOf('salt-cp'),
  options: [...basicOptions(), timeoutOption(5), hardCrashOption()],
  groups: [
    ...targetGroups(false),
    outputGroup('salt-cp'),
    {
      title: 'File Options',
      options: [
        {
          flags: ['-C', '--chunked'],
          dest: 'chunked',
          action: 'store_true',
          default: false,
          help: 'Send in chunks: allows big files and whole folders, and creates folders on the minion.',
        },
        {
          flags: ['-n', '--no-compression'],
          dest: 'gzip',
          action: 'store_false',
          default: true,
          help: 'Do not compress the chunks.',
        },
      ],
    },
    loggingGroup({ logFile: '/var/log/salt/master' }),
  ],
});
