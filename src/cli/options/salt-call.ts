// Options of `salt-call`.
import type { CommandSpec, OptionSpec } from '../optparse.ts';
import {
  argsStdinOption,
  basicOptions,
  docOption,
  epilogOf,
  executorOptions,
  hardCrashOption,
  loggingGroup,
  noParseOption,
  outputGroup,
  profilingGroup,
  proxyIdOption,
  switchOption,
} from './shared.ts';

const own: OptionSpec[] = [
  switchOption(['-g', '--grains'], 'grains_run', 'Print the grains.'),
  {
    flags: ['-m', '--module-dirs'],
    dest: 'module_dirs',
    action: 'append',
    default: [],
    help: 'One more folder with modules; may be given several times.',
  },
  docOption('function or module'),
  { flags: ['--master'], dest: 'master', default: '', help: 'Master to connect to, instead of the configured one.' },
  {
    flags: ['--return'],
    dest: 'return',
    default: '',
    metavar: 'RETURNER',
    help: 'Returners that also get the result.',
  },
  switchOption(['--local'], 'local', 'Work without a master, with files and pillar of this machine.'),
  {
    flags: ['--file-root'],
    dest: 'file_root',
    action: 'append',
    help: 'Folder with states and files, as the base environment; may be given several times.',
  },
  {
    flags: ['--pillar-root'],
    dest: 'pillar_root',
    action: 'append',
    help: 'Folder with pillar data, as the base environment; may be given several times.',
  },
  { flags: ['--states-dir'], dest: 'states_dir', action: 'append', help: 'One more folder with state modules.' },
  switchOption(['--retcode-passthrough'], 'retcode_passthrough', "Exit with the function's own code."),
  switchOption(['--metadata'], 'print_metadata', 'Print outputter, return code and job id with the result.'),
  {
    flags: ['--set-metadata'],
    dest: 'metadata',
    metavar: 'METADATA',
    help: 'Data stored with the job, by which it can be found.',
  },
  { flags: ['--id'], dest: 'id', default: '', help: 'Use this minion id, instead of the configured one.' },
  switchOption(['--skip-grains'], 'skip_grains', 'Do not collect grains.'),
  switchOption(['--refresh-grains-cache'], 'refresh_grains_cache', 'Collect grains again, even if they are cached.'),
  switchOption(['--no-return-event'], 'no_return_event', 'Do not report the result to the master.'),
  {
    flags: ['-t', '--timeout'],
    dest: 'auth_timeout',
    type: 'int',
    default: 60,
    help: 'Seconds to wait for the master. Default: %default.',
  },
  switchOption(['--output-diff'], 'state_output_diff', 'Show only states that changed something.'),
  { flags: ['--priv'], dest: 'user', help: 'Run as this user.' },
];

export const saltCallSpec = (): CommandSpec => ({
  prog: 'salt-call',
  usage: '%prog [options] <function> [arguments]',
  description: 'Runs a function on this machine, as its minion does.',
  epilog: epilogOf('salt-call'),
  options: [
    ...basicOptions(),
    proxyIdOption,
    ...executorOptions,
    argsStdinOption,
    { flags: ['--cachedir'], dest: 'cachedir', default: '/var/cache/salt/', help: 'Cache folder.' },
    hardCrashOption(),
    noParseOption(),
    ...own,
  ],
  groups: [outputGroup('salt-call'), profilingGroup, loggingGroup({ logFile: '/var/log/salt/minion' })],
});
