// Option mix-ins that several commands share, in the order Salt's help lists them.
import { dirname } from 'node:path';
import type { OptionGroup, OptionSpec } from '../optparse.ts';

/** Environment variables set defaults; read once, when the table is created. */
const env = (name: string, fallback: string): string => process.env[name] || fallback;

export const basicOptions = (): OptionSpec[] => [
  { flags: ['--version'], dest: 'version', action: 'version', help: 'Print the version and stop.' },
  {
    flags: ['-V', '--versions-report'],
    dest: 'versions_report',
    action: 'store_true',
    help: 'Print the versions of Halite, its libraries and this system, and stop.',
  },
  { flags: ['-h', '--help'], dest: 'help', action: 'help', help: 'Print this text and stop.' },
  {
    flags: ['--saltfile'],
    dest: 'saltfile',
    help: 'File with default options per command. Without it, SALT_SALTFILE, ./Saltfile and ~/.salt/Saltfile are tried.',
  },
  {
    flags: ['-c', '--config-dir'],
    dest: 'config_dir',
    default: env('SALT_CONFIG_DIR', '/etc/salt'),
    help: "Folder that holds the configuration files. Default: '%default'.",
  },
];

export const timeoutOption = (seconds: number): OptionSpec => ({
  flags: ['-t', '--timeout'],
  dest: 'timeout',
  type: 'int',
  default: seconds,
  help: 'Seconds to wait for answers before asking whether the job still runs. Default: %default.',
});

export const argsStdinOption: OptionSpec = {
  flags: ['--args-stdin'],
  dest: 'args_stdin',
  action: 'store_true',
  default: false,
  help: 'Read more options and arguments from standard input, one per line.',
};

export const executorOptions: OptionSpec[] = [
  {
    flags: ['--module-executors'],
    dest: 'module_executors',
    metavar: 'EXECUTOR_LIST',
    help: "Use these executors instead of the minion's own list.",
  },
  {
    flags: ['--executor-opts'],
    dest: 'executor_opts',
    metavar: 'EXECUTOR_OPTS',
    help: "Options for the executors instead of the minion's own.",
  },
];

export const hardCrashOption = (): OptionSpec => ({
  flags: ['--hard-crash'],
  dest: 'hard_crash',
  action: 'store_true',
  default: process.env['SALT_HARD_CRASH'] || false,
  help: 'Show the stack of an unexpected error and exit with a failure code. Default: %default.',
});

export const noParseOption = (): OptionSpec => ({
  flags: ['--no-parse'],
  dest: 'no_parse',
  default: env('SALT_NO_PARSE', ''),
  metavar: 'argname1,argname2,...',
  help: 'Named arguments (name=value) whose value is kept as the text that was typed.',
});

export const userOption = (prog: string): OptionSpec => ({
  flags: ['-u', '--user'],
  dest: 'user',
  help: `Run ${prog} as this user.`,
});

export const proxyIdOption: OptionSpec = {
  flags: ['--proxyid'],
  dest: 'proxyid',
  help: 'Id of the proxy minion.',
};

export const jidOption: OptionSpec = { flags: ['--jid'], dest: 'jid', help: 'Use this job id instead of a new one.' };

export const docOption = (what: string): OptionSpec => ({
  flags: ['-d', '--doc', '--documentation'],
  dest: 'doc',
  action: 'store_true',
  default: false,
  help: `Print the documentation of a ${what}, or of all.`,
});

export const daemonOptions = (prog: string): OptionSpec[] => [
  {
    flags: ['-d', '--daemon'],
    dest: 'daemon',
    action: 'store_true',
    default: false,
    help: `Run ${prog} in the background.`,
  },
  {
    flags: ['--pid-file'],
    dest: 'pidfile',
    default: `/var/run/${prog}.pid`,
    help: "Where to write the process id. Default: '%default'.",
  },
  {
    flags: ['--disable-keepalive'],
    dest: 'disable_keepalive',
    action: 'store_true',
    default: false,
    help: 'Run without a restarting parent process, for use under a service manager.',
  },
];

export const switchOption = (flags: string[], dest: string, help: string): OptionSpec => ({
  flags,
  dest,
  action: 'store_true',
  default: false,
  help,
});

const basicTargets: OptionSpec[] = [
  switchOption(['-H', '--hosts'], 'list_hosts', 'List the hosts of the roster (salt-ssh).'),
  switchOption(['-E', '--pcre'], 'pcre', 'The target is a regular expression on the minion id.'),
  switchOption(['-L', '--list'], 'list', 'The target is a list of minion ids, separated by commas or blanks.'),
  switchOption(['-G', '--grain'], 'grain', 'The target is a grain and a glob on its value: "os:Arch*".'),
  switchOption(['-P', '--grain-pcre'], 'grain_pcre', 'The target is a grain and a regular expression: "os:Arch.*".'),
  switchOption(['-N', '--nodegroup'], 'nodegroup', 'The target is a node group of the master configuration.'),
  switchOption(['-R', '--range'], 'range', 'The target is a range expression such as %cluster.'),
];

const extendedTargets: OptionSpec[] = [
  switchOption(
    ['-C', '--compound'],
    'compound',
    'The target is an expression of several matchers with and, or, not and parentheses: ' +
      "'G@os:RedHat and web* or E@db.*'.",
  ),
  switchOption(['-I', '--pillar'], 'pillar_target', 'The target is a pillar key and a glob: "role:production*".'),
  switchOption(['-J', '--pillar-pcre'], 'pillar_pcre', 'The target is a pillar key and a regular expression.'),
  switchOption(['-S', '--ipcidr'], 'ipcidr', 'The target is an address or a network (CIDR).'),
];

export const targetGroups = (extended: boolean): OptionGroup[] => [
  {
    title: 'Target Options',
    description: 'The kind of the target; a glob on the minion id when none is given.',
    options: extended ? [...basicTargets, ...extendedTargets] : basicTargets,
  },
  {
    title: 'Additional Target Options',
    description: 'Further options for targets.',
    options: [
      {
        flags: ['--delimiter'],
        dest: 'delimiter',
        default: ':',
        help: "Separator between the levels of a nested grain or pillar key. Default: '%default'.",
      },
    ],
  },
];

export const authGroup = (shortFlag: boolean): OptionGroup => ({
  title: 'External Authentication',
  options: [
    {
      flags: [...(shortFlag ? ['-a'] : []), '--auth', '--eauth', '--external-auth'],
      dest: 'eauth',
      default: '',
      help: 'Log in through this authentication system.',
    },
    switchOption(['-T', '--make-token'], 'mktoken', 'Store a token after login, so that later commands need no login.'),
    { flags: ['--username'], dest: 'username', help: 'User name for that login.' },
    { flags: ['--password'], dest: 'password', help: 'Password for that login.' },
  ],
});

export const outputGroup = (prog: string): OptionGroup => ({
  title: 'Output Options',
  description: 'How results are shown.',
  options: [
    {
      flags: ['--out', '--output'],
      dest: 'output',
      help: `Outputter for the results of ${prog}: nested, json, yaml, txt, …`,
    },
    {
      flags: ['--out-indent', '--output-indent'],
      dest: 'output_indent',
      type: 'int',
      help: 'Columns per level for outputters that indent; a negative number puts everything on one line.',
    },
    { flags: ['--out-file', '--output-file'], dest: 'output_file', help: 'Write the results to this file.' },
    switchOption(
      ['--out-file-append', '--output-file-append'],
      'output_file_append',
      'Add to that file instead of emptying it first.',
    ),
    {
      ...switchOption(
        ['--out-raw-escapes'],
        'output_raw_escapes',
        'Print control characters of results as they are. Minions can then control your terminal: only for pipes to programs.',
      ),
      ours: true,
    },
    switchOption(['--no-color', '--no-colour'], 'no_color', 'Plain text.'),
    switchOption(['--force-color', '--force-colour'], 'force_color', 'Colours even when the output is not a terminal.'),
    {
      flags: ['--state-output', '--state_output'],
      dest: 'state_output',
      help: "Style of state results: 'full', 'terse', 'mixed', 'changes' or 'filter', each also with '_id'. Default: '%default'.",
    },
    {
      flags: ['--state-verbose', '--state_verbose'],
      dest: 'state_verbose',
      help: 'Whether successful states without changes are shown: True or False. Default: %default.',
    },
  ],
});

export const profilingGroup: OptionGroup = {
  title: 'Profiling support',
  options: [
    {
      flags: ['--profiling-path'],
      dest: 'profiling_path',
      default: '/tmp/stats',
      help: "Folder for profiling data. Default: '%default'.",
    },
    switchOption(['--enable-profiling'], 'profiling_enabled', 'Record profiling data; see --profiling-path.'),
  ],
};

const sortedLevels = ['all', 'garbage', 'trace', 'debug', 'profile', 'info', 'warning', 'error', 'critical', 'quiet'];
const listedLevels = ['all', 'debug', 'error', 'critical', 'garbage', 'info', 'profile', 'quiet', 'trace', 'warning'];
const levelHelp = (what: string): string =>
  `${what}. One of ${sortedLevels.map((name) => `'${name}'`).join(', ')}. Default: 'warning'. ` +
  'Levels below info may write secrets.';

export interface LogGroupOptions {
  /** Where the command logs by default. */
  readonly logFile: string;
  readonly flags?: readonly string[];
  readonly fileDest?: string;
}

export const loggingGroup = ({ logFile, flags, fileDest }: LogGroupOptions): OptionGroup => ({
  title: 'Logging Options',
  description: 'These take precedence over the configuration files.',
  options: [
    {
      flags: flags ?? ['-l', '--log-level'],
      dest: 'log_level',
      type: 'choice',
      choices: listedLevels,
      help: levelHelp('Verbosity on the console'),
    },
    {
      flags: ['--log-file'],
      dest: fileDest ?? 'log_file',
      // A bare name is a file in the working directory, not one next to the configured log.
      convert: (path) => (dirname(path) === '.' && !path.startsWith('.') ? `./${path}` : path),
      help: `Log file. Default: '${logFile}'.`,
    },
    {
      flags: ['--log-file-level'],
      dest: 'log_level_logfile',
      type: 'choice',
      choices: sortedLevels,
      help: levelHelp('Verbosity of the log file'),
    },
  ],
});

/** Last lines of every help text. */
export const epilogOf = (prog: string): string =>
  `More about ${prog}: "man ${prog}", or the manual that comes with Halite.`;

/** Procedures that change much show what they would do. */
export const dryRunOption: OptionSpec = {
  ours: true,
  flags: ['--dry-run'],
  dest: 'dry_run',
  action: 'store_true',
  default: false,
  help: 'With master.*: only show what would be done.',
};
