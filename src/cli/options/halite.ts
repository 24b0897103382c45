// Options of `halite`.
import type { CommandSpec } from '../optparse.ts';
import { basicOptions, dryRunOption, epilogOf, outputGroup } from './shared.ts';

export const haliteSpec = (): CommandSpec => ({
  prog: 'halite',
  usage: [
    '%prog [options] doctor',
    '%prog [options] explain <minion or job id>',
    '%prog [options] config [<option>…]',
    '%prog [options] migrate check [<folder, archive or live>]',
    '%prog [options] migrate run | back | done',
    '%prog [options] clone | compare | export | import | backup | restore [arguments]',
    '%prog [options] cluster init <name> <server>…',
    '%prog [options] cluster nats [<host>…]',
    '%prog [options] cluster join [<invitation>]',
    '%prog [options] drill kill-master',
    '%prog [options] completion bash|zsh|fish',
    '%prog [options] ssh-runtime add <program> <system>',
  ].join('\n       '),
  description:
    'Commands that Salt does not have. doctor: checks the master, the minion and all minions of the master from this machine and reports problems with their repair; it also works when the daemons do not. explain: everything the master knows about a minion or a job. config: which value each option of the files has and where it comes from, with file and line; with names or globs only these, also when the default counts. migrate check: what of an existing installation of Salt works here, differs or is missing. migrate run: Halite takes the place of the Salt master of this machine, and every minion is asked before and after. migrate back: Salt is the master again. migrate done: it stays. clone, compare, export, import, backup, restore: move or save a master, as salt-run master.clone and so on. cluster init: makes the keys of a cluster of masters. cluster nats: writes configuration and unit for the nats-server of this machine. cluster join: makes this machine a member, with an invitation of salt-run cluster.invite; without one on the command line it is read from standard input. drill kill-master: closes the ports of the master of this machine for 20 seconds while harmless jobs run, and says what became of these, as salt-run cluster.drill. completion: prints what a shell needs to complete our commands. ssh-runtime add: keeps a Node.js for targets of salt-ssh with another kind of system, such as linux-arm64.',
  epilog: epilogOf('halite'),
  options: [
    ...basicOptions(),
    dryRunOption,
    {
      ours: true,
      flags: ['--keys-from'],
      dest: 'keys_from',
      metavar: 'SOURCE',
      help: 'With cluster join: take the RSA key from ssh://host[/etc/salt] or a folder, or with "nats" sealed from a member. Default: ssh when it works.',
    },
    {
      ours: true,
      flags: ['--ssh-config'],
      dest: 'ssh_config',
      metavar: 'FILE',
      help: 'With cluster join: a configuration file for ssh.',
    },
  ],
  groups: [outputGroup('halite')],
});
