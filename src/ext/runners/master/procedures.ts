// Procedures that replace the files of a master: they need none that runs, so they run in the command itself.
import { HaliteError, masterFn, type Params, p } from 'halite/sdk';
import { backup } from './backup.ts';
import { secret } from './secret.ts';

const source = p.string({
  doc: 'the other master: `ssh://[user@]host[:port][/etc/salt]`, a configuration folder, or a tar archive',
});
const dry_run = p.bool({ default: false, doc: 'only show the plan; `--dry-run` is the same' });
const reading = {
  config: p.string({ default: '/etc/salt', doc: 'the configuration folder inside an archive' }),
  root: p.string({ default: '/', doc: 'the folder that was `/` of the other machine, when its disk is mounted here' }),
  ssh: p.string({ default: '', doc: 'a configuration file of ssh, as for `ssh -F`' }),
  sudo: p.bool({ default: false, doc: 'read the other host through `sudo -n`' }),
  halite: p.string({ default: 'halite', doc: 'the command halite on the other host, which copies a history in use' }),
};
const placing = {
  place: p.string({ default: '', doc: 'other folders here: `/folder/there:/folder/here`, several with commas' }),
  allow: p.string({
    default: '',
    doc: 'folders that may be written to besides /etc/salt, /srv, /var/cache/salt and /var/lib/salt',
  }),
  interface: p.string({ default: '', doc: 'the address to listen on here' }),
  publish_port: p.int({ default: null, doc: 'another publish port here' }),
  ret_port: p.int({ default: null, doc: 'another request port here' }),
  roots: p.bool({ default: true, doc: 'also files and pillar' }),
  history: p.bool({ default: true, doc: 'also the history of jobs' }),
};

const local = <P extends Params>(name: string, doc: string, examples: readonly string[], params: P) =>
  masterFn({
    doc: `${doc} Runs in the command \`salt-run\` or \`halite\`, with the rights of its user, and needs no running master.`,
    examples,
    params,
    async run() {
      throw new HaliteError(
        'call.failed',
        `master.${name} replaces or reads files of the master and runs only in a command`,
        {
          hint: `On the master's machine: salt-run master.${name}`,
        },
      );
    },
  });

export const procedures = {
  clone: local(
    'clone',
    'Makes this machine the master that another one is: configuration, keys, files, pillar and history.',
    [
      'salt-run master.clone ssh://old --dry-run',
      'salt-run master.clone ssh://root@old:22/etc/salt',
      'salt-run master.clone old.tar.gz',
    ],
    { source, dry_run, ...reading, ...placing },
  ),
  compare: local(
    'compare',
    'Compares this master with another one: key, states of minion keys, options, files and pillar.',
    ['salt-run master.compare ssh://other', 'salt-run master.compare other:4506'],
    { source, ...reading },
  ),
  export: local(
    'export',
    'Writes this master to one file, sealed with a passphrase and signed with its key.',
    [
      'salt-run master.export /root/master.halite',
      'salt-run master.export /root/master.halite passphrase_file=/root/phrase',
    ],
    {
      file: p.string({ doc: 'the file to write' }),
      dry_run,
      roots: placing.roots,
      history: placing.history,
      ...secret,
    },
  ),
  import: local(
    'import',
    'Makes this machine the master in a file of `master.export`, after its seal and its signature were checked.',
    [
      'salt-run master.import /root/master.halite --dry-run',
      'salt-run master.import /root/master.halite finger=ab:cd:…',
    ],
    {
      file: p.string({ doc: 'the file of master.export' }),
      dry_run,
      finger: p.string({ default: '', doc: 'the fingerprint that the key of the exported master must have' }),
      identity: p.string({ default: '', doc: 'of a file for a `recipient`: the private key' }),
      ...secret,
      ...placing,
    },
  ),
  backup,
  restore: local(
    'restore',
    'Puts back what a clone, an import or a restore replaced, or what a file of `master.backup` contains; without a name it shows the former.',
    [
      'salt-run master.restore',
      'salt-run master.restore 2026-11-18T19-35-13Z',
      'salt-run master.restore /var/backups/salt/master-2026-11-18T03-00-00.000Z.halite --dry-run',
    ],
    {
      backup: p.string({ default: '', doc: 'the time in the name of the backup, or a file of master.backup' }),
      dry_run,
      finger: p.string({
        default: '',
        doc: 'of a file: the fingerprint of its master; without it the key of this machine must be the same',
      }),
      identity: p.string({ default: '', doc: 'of a file for a `recipient`: the private key' }),
      ...secret,
      ...placing,
    },
  ),
};
