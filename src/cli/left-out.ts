// Commands of Salt that Halite does not have: each says in one sentence what to use instead.
import { basename } from 'node:path';
import { exitCodes } from '../base/util/exit-codes.ts';
import { terminal } from './io.ts';
import { run } from './main.ts';

const instead: Readonly<Record<string, string>> = {
  'salt-cloud':
    'salt-cloud is not part of Halite: make machines with Terraform or the tool of your cloud, reach them with salt-ssh --roster terraform, and install minions with salt-run bootstrap.minion.',
  spm: 'spm is not part of Halite: use formulas from gitfs (gitfs_remotes) or copy them into file_roots.',
  'salt-extend':
    'salt-extend is not part of Halite: write an extension as one file below _modules, _states and so on, as docs/guide/extensions.md shows.',
};

run(async () => {
  const name = basename(process.argv[1] ?? '');
  terminal.err(`${Object.hasOwn(instead, name) ? instead[name] : `${name} is not part of Halite.`}\n`);
  return exitCodes.unavailable;
});
