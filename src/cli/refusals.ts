// Options that are parsed but not supported yet: refused with a message, never ignored.
import type { OpenOpts } from '../base/config/opts.ts';
import { exitCodes } from '../base/util/exit-codes.ts';
import { Exit } from './main.ts';
import { flagOption, type Settings, textOption } from './settings.ts';

export function refuseExternalAuth(settings: Settings<OpenOpts>): void {
  if (textOption(settings, 'eauth') === '' && !flagOption(settings, 'mktoken')) return;
  settings.io.err(
    'ERROR: External authentication (-a, -T) is not available in this version of Halite.\n' +
      'Run the command as root, or let the administrator name you in publisher_acl of the master configuration.\n',
  );
  throw new Exit(exitCodes.noReturn);
}

export function refuseOwnJid(settings: Settings<OpenOpts>): void {
  if (textOption(settings, 'jid') === '') return;
  settings.io.err('ERROR: --jid is not available in this version of Halite: the master chooses the job id.\n');
  throw new Exit(exitCodes.usage);
}
