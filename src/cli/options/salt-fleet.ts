// Options of `salt-fleet`.
import type { CommandSpec, OptionSpec } from '../optparse.ts';
import { epilogOf, switchOption } from './shared.ts';

const number = (flag: string, dest: string, metavar: string, standard: number, help: string): OptionSpec => ({
  ...{ flags: [flag], dest, metavar, type: 'int', default: standard },
  help: `${help} Default: %default.`,
});
const seconds = (flag: string, dest: string, standard: number, help: string): OptionSpec => ({
  ...number(flag, dest, 'SECONDS', standard, help),
  type: 'float',
});
const share = (flag: string, dest: string, help: string, standard = 0): OptionSpec => ({
  ...{ flags: [flag], dest, metavar: 'SHARE', type: 'float', default: standard },
  help: `${help} From 0 to 1; default: %default.`,
});
const choice = (flag: string, dest: string, choices: readonly string[], help: string): OptionSpec => ({
  ...{ flags: [flag], dest, type: 'choice', choices, default: choices[0] ?? '' },
  help: `${help} One of ${choices.join(', ')}. Default: %default.`,
});

export const saltFleetSpec = (): CommandSpec => ({
  prog: 'salt-fleet',
  usage: '%prog [options] [<master>[:<request port>]]',
  description:
    'Plays many minions against one master over the real wire, to see how much a master of yours can take. The minions sign in, subscribe, answer jobs with made-up results, and never run a command. The master is 127.0.0.1:4506 when none is named. Keys of the minions must be accepted as those of other minions: give them a prefix of their own and a rule in autosign_file. Ctrl-C ends the run with its report.',
  epilog: epilogOf('salt-fleet'),
  options: [
    { flags: ['--version'], dest: 'version', action: 'version', help: 'Print the version and stop.' },
    { flags: ['-h', '--help'], dest: 'help', action: 'help', help: 'Print this text and stop.' },
    switchOption(
      ['--i-own-this-master'],
      'own',
      'The master is on another machine, and you may load it: without this option only masters on this machine are allowed.',
    ),
  ],
  groups: [
    {
      title: 'The minions',
      options: [
        number('--minions', 'minions', 'N', 50, 'How many.'),
        {
          flags: ['--prefix'],
          dest: 'prefix',
          metavar: 'TEXT',
          default: 'sim-',
          help: "Start of their ids. Default: '%default'.",
        },
        choice('--as', 'behaviour', ['halite', 'salt'], 'Whose minions they are like.'),
        choice(
          '--protocol',
          'protocol',
          ['3', '2', '0'],
          'Generation of the protocol: 3 since 3006.12, 2 since 3002.8, 0 before.',
        ),
        choice('--transport', 'transport', ['zeromq', 'tcp'], 'As in the configuration of the master.'),
        number('--publish-port', 'publish_port', 'PORT', 0, 'Where jobs come from. 0: as the master says.'),
        number(
          '--keys',
          'keys',
          'N',
          1,
          'How many RSA key pairs they share; 0: each has its own, which takes a processor about 0.1 s for each.',
        ),
        {
          flags: ['--keys-dir'],
          dest: 'keys_dir',
          metavar: 'DIR',
          default: '',
          help: 'Keep the key pairs in this folder: the same minions can then come back in the next run.',
        },
        number('--key-size', 'key_size', 'BITS', 2048, 'Size of the keys.'),
      ],
    },
    {
      title: 'The start',
      options: [
        number('--ramp', 'ramp', 'N', 0, 'Minions that begin each second; 0: all at once.'),
        switchOption(
          ['--token'],
          'token',
          'Send the challenge that minions send which know their master: one more RSA operation for it.',
        ),
        switchOption(
          ['--boot'],
          'boot',
          'Ask for the pillar and send the start event after the sign-in, as starting minions do.',
        ),
        switchOption(['--auth-only'], 'auth_only', 'Sign in, report and stop.'),
        seconds('--sign-in-time', 'sign_in_time', 60, 'Give up sign-ins that are not accepted in this time.'),
        seconds('--acceptance-wait', 'acceptance_wait', 10, 'Between two tries while a key waits for acceptance.'),
        seconds('--settle', 'settle', 0.5, 'Between the last subscription and "ready".'),
        number('--fill', 'fill', 'N', 0, 'Then send so many results that belong to no job, to fill the job history.'),
      ],
    },
    {
      title: 'The answers',
      options: [
        seconds('--delay', 'delay', 0, 'Time before an answer.'),
        share('--jitter', 'jitter', 'Part of the delay that is random.'),
        number(
          '--result-size',
          'result_size',
          'BYTES',
          0,
          'Size of the result of cmd.run; 0: what "echo" would print.',
        ),
        share('--fail', 'fail', 'Answers that say that the function failed.'),
        share('--duplicate', 'duplicate', 'Answers that are sent twice.'),
        share('--drop', 'drop', 'Jobs that are never answered.'),
        switchOption(['--hold'], 'hold', 'Keep answers back until the line "release" is read from standard input.'),
      ],
    },
    {
      title: 'Trouble',
      options: [
        seconds('--storm-every', 'storm_every', 0, 'Drop connections at once every so often; 0: never.'),
        share('--storm-share', 'storm_share', 'Part of the connections that a storm drops.', 1),
        number('--churn', 'churn', 'N', 0, 'Minions that leave each minute.'),
        seconds('--churn-away', 'churn_away', 10, 'How long they stay away.'),
        seconds(
          '--reconnect',
          'reconnect',
          1,
          'First wait before a lost subscription is made again; it grows to ten times this.',
        ),
        seconds('--reauth-delay', 'reauth_delay', 10, 'Within this time minions sign in again after a reconnection.'),
        seconds('--timeout', 'timeout', 60, 'Wait for the answer to a request.'),
        number('--tries', 'tries', 'N', 3, 'How often a request is sent when its connection is lost.'),
      ],
    },
    {
      title: 'The machine',
      options: [
        number(
          '--connections',
          'connections',
          'N',
          0,
          'Request connections, each with one request at a time. 0: the smaller of 64 and the number of minions; -1: one for each minion.',
        ),
        number(
          '--share',
          'share',
          'N',
          1,
          'Minions that share a subscription: fewer connections for very large fleets, at most 50.',
        ),
        number('--processes', 'processes', 'N', 0, 'Processes that play the minions. 0: one for 5,000 minions.'),
        switchOption(['--light'], 'light', 'Leave out checks of the sign-in that only cost this machine.'),
        switchOption(['--verify'], 'verify', 'Check the signature of every publication.'),
      ],
    },
    {
      title: 'The end, and what is shown',
      options: [
        seconds('--duration', 'duration', 0, 'Stop after this time. 0: when interrupted.'),
        number('--jobs', 'jobs', 'N', 0, 'Stop when so many jobs are answered by all. 0: no limit.'),
        switchOption(['--json'], 'json', 'Print the report as JSON.'),
        {
          flags: ['--report'],
          dest: 'report',
          metavar: 'FILE',
          default: '',
          help: 'Write the report as JSON to this file too.',
        },
        switchOption(
          ['--events'],
          'events',
          'Print what happens as JSON objects, one per line; orders are read from standard input: stats, hold, release, reset, storm, quit.',
        ),
        switchOption(['-q', '--quiet'], 'quiet', 'No table and no progress on standard error.'),
      ],
    },
  ],
});
