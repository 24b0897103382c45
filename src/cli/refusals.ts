// Options that are parsed but not supported yet: refused with a message, never ignored.
import type { OpenOpts } from '../base/config/opts.ts';
import { exitCodes } from '../base/util/exit-codes.ts';
import { Exit } from './main.ts';
import { type Settings, textOption } from './settings.ts';

export function refuseOwnJid(settings: Settings<OpenOpts>): void {
  if (textOption(settings, 'jid') === '') return;
  settings.io.err('ERROR: --jid is not available in this version of Halite: the master chooses the job id.\n');
  throw new Exit(exitCodes.usage);
}
