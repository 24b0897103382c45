// `master.backup`: in the command `salt-run` it runs there; in the schedule or the reactor the master starts that command.
import { dirname, join } from 'node:path';
import { HaliteError, type MasterContext, masterFn, p } from 'halite/sdk';
import { existsSync, realpathSync } from 'halite/sdk/fs';
import { secret } from './secret.ts';

/** The command `halite` of the installation that runs here. */
function haliteCommand(): string {
  const here = dirname(realpathSync(process.argv[1] ?? '.'));
  const found = [join(here, 'halite'), join(here, '../bin/halite'), join(here, 'halite.cjs')].find((path) =>
    existsSync(path),
  );
  if (found) return found;
  throw new HaliteError('call.failed', `There is no command halite beside ${here}`);
}

const configDirOf = ({ opts }: MasterContext): string => dirname(String(opts['conf_file'] ?? '/etc/salt/master'));

export const backup = masterFn({
  doc: 'Writes this master, while it runs, to one signed file: configuration, keys, files, pillar, history and what waits for returners.',
  examples: [
    'salt-run master.backup',
    'salt-run master.backup /var/backups/salt keep=14 recipient=/etc/salt/backup.pub',
    'salt-run master.backup /var/backups/salt passphrase_file=/root/phrase',
  ],
  params: {
    folder: p.string({ default: '', doc: 'where backups are written; default: backup/master in the cachedir' }),
    keep: p.int({ default: 0, doc: 'how many of them stay; 0: all' }),
    roots: p.bool({ default: true, doc: 'also files and pillar' }),
    history: p.bool({ default: true, doc: 'also the history of jobs' }),
    recipient: p.string({
      default: '',
      doc: 'the RSA public key (PEM) of whoever may read it; needs no secret on this machine',
    }),
    dry_run: p.bool({ default: false, doc: 'only say what would be written; `--dry-run` is the same' }),
    ...secret,
  },
  async run(args, ctx) {
    if (args.passphrase_fd !== null) throw new HaliteError('call.arguments', 'passphrase_fd works only in a command');
    const words = Object.entries(args).flatMap(([name, value]) =>
      value === null || value === '' ? [] : [`${name}=${JSON.stringify(value)}`],
    );
    const { stdout, stderr, retcode } = await ctx.exec(
      process.execPath,
      [haliteCommand(), '-c', configDirOf(ctx), 'backup', ...words],
      { timeoutMs: 24 * 3600 * 1000 },
    );
    if (retcode !== 0) throw new HaliteError('call.failed', stderr.trim() || `the backup ended with ${retcode}`);
    return stdout.trim();
  },
});
