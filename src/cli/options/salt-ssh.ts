// Options of `salt-ssh`.
import type { CommandSpec, OptionSpec } from '../optparse.ts';
import {
  basicOptions,
  epilogOf,
  hardCrashOption,
  jidOption,
  loggingGroup,
  noParseOption,
  outputGroup,
  switchOption,
  targetGroups,
} from './shared.ts';

/** Accepted for scripts; they concern the Python that Salt sends. */
export const pythonOptions = [
  'extra_filerefs',
  'min_extra_mods',
  'thin_extra_mods',
  'python2_bin',
  'python3_bin',
  'thin_exclude_saltexts',
  'relenv',
] as const;

const own: OptionSpec[] = [
  switchOption(['-r', '--raw', '--raw-shell'], 'raw_shell', 'Run a shell command instead of a function.'),
  {
    flags: ['--roster'],
    dest: 'roster',
    default: 'flat',
    help: 'Rosters that list the hosts, separated by commas. Default: %default.',
  },
  {
    flags: ['--roster-file'],
    dest: 'roster_file',
    default: '',
    help: 'Roster file. Default: roster in the configuration folder.',
  },
  switchOption(['--refresh', '--refresh-cache'], 'refresh_cache', 'Accepted; data about targets is always fresh.'),
  {
    flags: ['--max-procs'],
    dest: 'ssh_max_procs',
    type: 'int',
    default: 25,
    help: 'Number of hosts that are connected at the same time. Default: %default.',
  },
  { flags: ['--extra-filerefs'], dest: 'extra_filerefs', help: 'Accepted; targets fetch the files they need.' },
  { flags: ['--min-extra-modules'], dest: 'min_extra_mods', help: 'Accepted; no Python is sent.' },
  { flags: ['--thin-extra-modules'], dest: 'thin_extra_mods', help: 'Accepted; no Python is sent.' },
  // Of 3008 only: they must not make short forms of other options ambiguous.
  {
    ...switchOption(['--thin-exclude-saltexts'], 'thin_exclude_saltexts', 'Accepted; no Python is sent.'),
    ours: true,
  },
  { ...switchOption(['--relenv'], 'relenv', 'Accepted; no Python is sent.'), ours: true },
  switchOption(['-v', '--verbose'], 'verbose', 'Print the job id.'),
  switchOption(['-s', '--static'], 'static', 'Print all results together at the end.'),
  switchOption(['-w', '--wipe'], 'ssh_wipe', 'Remove the folder on the target when the job is done.'),
  switchOption(
    ['-W', '--rand-thin-dir'],
    'rand_thin_dir',
    'Use a folder with a random name on the target, and remove it.',
  ),
  switchOption(['-t', '--regen-thin', '--thin'], 'regen_thin', 'Send the runtime and the program again.'),
  { flags: ['--python2-bin'], dest: 'python2_bin', default: 'python2', help: 'Accepted; no Python is used.' },
  { flags: ['--python3-bin'], dest: 'python3_bin', default: 'python3', help: 'Accepted; no Python is used.' },
  switchOption(
    ['--pre-flight'],
    'ssh_run_pre_flight',
    'Run the script ssh_pre_flight of the roster, also when it ran before.',
  ),
];

/** Those about keeping the connection alive came with Salt 3008. */
const ssh: OptionSpec[] = [
  {
    flags: ['--remote-port-forwards'],
    dest: 'ssh_remote_port_forwards',
    help: 'Ports that the targets forward, as ssh -R takes them, separated by commas.',
  },
  {
    flags: ['--ssh-option'],
    dest: 'ssh_options',
    action: 'append',
    help: 'An option for ssh, as in its configuration file; may be given several times.',
  },
  {
    ...switchOption(
      ['--disable-keepalive'],
      'ssh_disable_keepalive',
      'Send no messages that keep the connection alive.',
    ),
    ours: true,
  },
  {
    ours: true,
    flags: ['--keepalive-interval'],
    dest: 'ssh_keepalive_interval',
    type: 'int',
    default: 60,
    help: 'Seconds between such messages. Default: %default.',
  },
  {
    ours: true,
    flags: ['--keepalive-count-max'],
    dest: 'ssh_keepalive_count_max',
    type: 'int',
    default: 3,
    help: 'Unanswered messages after which the connection is given up. Default: %default.',
  },
];

const authentication: OptionSpec[] = [
  { flags: ['--priv'], dest: 'ssh_priv', help: 'Private key.' },
  {
    flags: ['--priv-passwd'],
    dest: 'ssh_priv_passwd',
    default: '',
    help: 'Passphrase of the private key; visible in the process list.',
  },
  switchOption(['-i', '--ignore-host-keys'], 'ignore_host_keys', 'Accept unknown host keys.'),
  switchOption(['--no-host-keys'], 'no_host_keys', 'Check no host keys at all.'),
  { flags: ['--user'], dest: 'ssh_user', default: 'root', help: 'User to log in as. Default: %default.' },
  {
    flags: ['--passwd'],
    dest: 'ssh_passwd',
    default: '',
    help: 'Password to log in with; visible in the process list, see --askpass.',
  },
  switchOption(['--askpass'], 'ssh_askpass', 'Ask for the password on the terminal.'),
  switchOption(['--key-deploy'], 'ssh_key_deploy', 'Put the public key on the targets, with the password.'),
  switchOption(['--identities-only'], 'ssh_identities_only', 'Offer only configured keys, none of an agent.'),
  switchOption(['--sudo'], 'ssh_sudo', 'Run the function with sudo.'),
  switchOption(['--update-roster'], 'ssh_update_roster', 'Add a host that is not in the roster to the roster file.'),
];

const halite: OptionSpec[] = [
  {
    flags: ['--deadline'],
    dest: 'deadline',
    metavar: 'TIME',
    ours: true,
    help: 'End the job on every target after this time (90s, 5m, 2h).',
  },
  { ...switchOption(['--progress'], 'progress', 'Show live progress, also with few targets.'), ours: true },
  { ...switchOption(['--no-progress'], 'no_progress', 'No live progress.'), ours: true },
];

export const saltSshSpec = (): CommandSpec => ({
  prog: 'salt-ssh',
  usage: "%prog [options] '<target>' <function> [arguments]",
  description: 'Runs functions and shell commands on hosts over SSH; nothing needs to be installed there.',
  epilog: epilogOf('salt-ssh'),
  options: [...basicOptions(), hardCrashOption(), noParseOption(), jidOption, ...own],
  groups: [
    ...targetGroups(false),
    { title: 'SSH Options', description: 'Parameters for the SSH client.', options: ssh },
    { title: 'Authentication Options', description: 'Parameters affecting authentication.', options: authentication },
    {
      title: 'Scan Roster Options',
      description: 'Parameters affecting scan roster.',
      options: [
        {
          flags: ['--scan-ports'],
          dest: 'ssh_scan_ports',
          default: '22',
          help: 'Ports tried by the roster scan. Default: %default.',
        },
        {
          flags: ['--scan-timeout'],
          dest: 'ssh_scan_timeout',
          default: 0.01,
          help: 'Seconds the roster scan waits for a port. Default: %default.',
        },
      ],
    },
    { title: 'Halite Options', description: 'Not in Salt.', options: halite },
    outputGroup('salt-ssh'),
    loggingGroup({ logFile: '/var/log/salt/ssh', fileDest: 'ssh_log_file' }),
  ],
});
