// Where passwords come from when they are not in a roster: the terminal, or a program.
import { readFileSync } from 'node:fs';
import type { PlainDict } from '../../base/codec/value.ts';
import type { MasterOpts } from '../../base/config/opts.ts';
import { askPasswordProgram, firstLine } from '../../ssh/password-program.ts';
import { askHidden } from '../ask-hidden.ts';
import { flagOption, type Settings } from '../settings.ts';

/** Sets `ssh_passwd` for this run. */
export async function askForPassword(settings: Settings<MasterOpts>, opts: PlainDict): Promise<void> {
  if (!flagOption(settings, 'ssh_askpass')) return askPasswordProgram(opts);
  opts['ssh_passwd'] = process.stdin.isTTY
    ? await askHidden('Password: ', settings.io)
    : firstLine(readFileSync(0, 'utf8'));
}
