// Options of `salt-run`.
import type { CommandSpec } from '../optparse.ts';
import {
  argsStdinOption,
  authGroup,
  basicOptions,
  docOption,
  dryRunOption,
  epilogOf,
  hardCrashOption,
  jidOption,
  loggingGroup,
  noParseOption,
  outputGroup,
  profilingGroup,
  timeoutOption,
} from './shared.ts';

export const saltRunSpec = (): CommandSpec => ({
  prog: 'salt-run',
  usage: '%prog [options] <function> [arguments]',
  description: 'Runs a runner, a function that runs on the master.',
  epilog: epilogOf('salt-run'),
  options: [
    ...basicOptions(),
    timeoutOption(1),
    argsStdinOption,
    jidOption,
    hardCrashOption(),
    noParseOption(),
    docOption('runner or function'),
    {
      flags: ['--async'],
      dest: 'async',
      action: 'store_true',
      default: false,
      help: 'Start the runner and do not wait for it.',
    },
    {
      flags: ['--skip-grains'],
      dest: 'skip_grains',
      action: 'store_true',
      default: false,
      help: 'Do not collect grains.',
    },
    dryRunOption,
    {
      ours: true,
      flags: ['--sql'],
      dest: 'sql',
      metavar: 'SQL',
      help: 'With jobs.query: one SELECT over the history, read-only.',
    },
  ],
  groups: [
    authGroup(true),
    outputGroup('salt-run'),
    profilingGroup,
    {
      title: 'Output Options',
      description: 'How results are shown.',
      options: [
        { flags: ['--quiet'], dest: 'quiet', action: 'store_true', default: false, help: 'Do not show the result.' },
      ],
    },
    loggingGroup({ logFile: '/var/log/salt/master' }),
  ],
});
