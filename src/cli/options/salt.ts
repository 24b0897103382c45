// Options of `salt`.
import type { CommandSpec, OptionSpec } from '../optparse.ts';
import {
  argsStdinOption,
  authGroup,
  basicOptions,
  docOption,
  epilogOf,
  executorOptions,
  hardCrashOption,
  loggingGroup,
  noParseOption,
  outputGroup,
  switchOption,
  targetGroups,
  timeoutOption,
} from './shared.ts';

const jobs: OptionSpec[] = [
  timeoutOption(5),
  switchOption(['--async'], 'async', 'Send the job, print its id and do not wait.'),
  {
    flags: ['--subset'],
    dest: 'subset',
    type: 'int',
    default: 0,
    help: 'Run on this many minions, chosen at random among those targeted.',
  },
  {
    flags: ['--metadata'],
    dest: 'metadata',
    default: '',
    metavar: 'METADATA',
    help: 'Data stored with the job, by which it can be found.',
  },
  { ...switchOption(['--start-event'], 'start_event', 'Minions announce that they received the job.'), ours: true },
  switchOption(['--preview-target'], 'preview_target', 'List the minions that the target matches, and run nothing.'),
];

const progress: OptionSpec[] = [
  switchOption(['-v', '--verbose'], 'verbose', 'Print the job id first, and more in the summary.'),
  switchOption(['--show-jid'], 'show_jid', 'Print the job id first.'),
  switchOption(['-s', '--static'], 'static', 'Print all answers together after the last one.'),
  switchOption(['-p', '--progress'], 'progress', 'Show how many minions have answered.'),
  {
    flags: ['--hide-timeout'],
    dest: 'show_timeout',
    action: 'store_false',
    default: true,
    help: 'Do not list minions that did not answer.',
  },
  switchOption(['--summary'], 'cli_summary', 'Print counts of answers and failures at the end.'),
  switchOption(['--output-diff'], 'state_output_diff', 'Show only states that changed something.'),
];

const batches: OptionSpec[] = [
  {
    flags: ['-b', '--batch', '--batch-size'],
    dest: 'batch',
    default: '',
    help: 'Run on this many minions at a time: a number, or a percentage of those targeted.',
  },
  {
    flags: ['--batch-wait'],
    dest: 'batch_wait',
    type: 'float',
    default: 0,
    help: 'Seconds between the end of one minion and the start of the next in a batch.',
  },
  {
    flags: ['--batch-safe-limit'],
    dest: 'batch_safe_limit',
    type: 'int',
    default: 0,
    help: 'Run in batches when at least this many minions are targeted.',
  },
  { flags: ['--batch-safe-size'], dest: 'batch_safe_size', default: 8, help: 'Size of those batches.' },
  switchOption(['--failhard'], 'failhard', 'Stop a batch at the first failure.'),
];

const returners: OptionSpec[] = [
  {
    flags: ['--return'],
    dest: 'return',
    default: '',
    metavar: 'RETURNER',
    help: 'Returners that also get the results, separated by commas.',
  },
  {
    flags: ['--return_config'],
    dest: 'return_config',
    default: '',
    metavar: 'RETURNER_CONF',
    help: 'Name of an alternative configuration of the returner.',
  },
  {
    flags: ['--return_kwargs'],
    dest: 'return_kwargs',
    metavar: 'RETURNER_KWARGS',
    help: 'Options for the returner, as YAML.',
  },
];

const others = (): OptionSpec[] => [
  {
    flags: ['--args-separator'],
    dest: 'args_separator',
    default: ',',
    help: 'Separator of the arguments of several functions in one command, when commas occur in them.',
  },
  switchOption(['--config-dump'], 'config_dump', 'Print the effective master configuration and stop.'),
  argsStdinOption,
  noParseOption(),
  ...executorOptions,
  hardCrashOption(),
];

const halite: OptionSpec[] = [
  {
    flags: ['--deadline'],
    dest: 'deadline',
    metavar: 'TIME',
    ours: true,
    help: 'End the job on every minion after this time (90s, 5m, 2h): processes are killed, the rest counts as late.',
  },
  {
    flags: ['--durable'],
    dest: 'durable',
    metavar: 'TIME',
    optionalValue: true,
    constant: '24h',
    ours: true,
    help: 'Keep the job for minions that are not connected: it runs once when they reconnect, or expires after this time (24h).',
  },
  {
    flags: ['--require'],
    dest: 'require',
    metavar: 'SHARE',
    ours: true,
    help:
      'Send nothing unless at least this share (98%) or number of the targeted minions are reachable; ' +
      'succeed when as many succeeded.',
  },
  { ...switchOption(['--group'], 'group', 'Print equal answers once, with the minions that gave them.'), ours: true },
  {
    ...switchOption(
      ['--explain'],
      'explain',
      'Give the reason and its evidence for every minion without an answer, also in JSON.',
    ),
    ours: true,
  },
  { ...switchOption(['--no-progress'], 'no_progress', 'No live progress, also with many targets.'), ours: true },
];

export const saltSpec = (): CommandSpec => ({
  prog: 'salt',
  usage: "%prog [options] '<target>' <function> [arguments]",
  description: 'Runs functions on any number of minions at once and prints what they return.',
  epilog: epilogOf('salt'),
  options: [...basicOptions(), docOption('function or module')],
  groups: [
    ...targetGroups(true),
    { title: 'Job Options', description: 'What is sent, and how long its answers are waited for.', options: jobs },
    { title: 'Batch Options', description: 'A part of the minions at a time.', options: batches },
    {
      title: 'Progress Options',
      description: 'What is shown while minions answer, and at the end.',
      options: progress,
    },
    { title: 'Halite Options', description: 'Not in Salt.', options: halite },
    { title: 'Returner Options', description: 'Where else results go.', options: returners },
    { title: 'Further Options', options: others() },
    authGroup(true),
    outputGroup('salt'),
    loggingGroup({ logFile: '/var/log/salt/master' }),
  ],
});
