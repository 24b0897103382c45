// Execution module `minion`: which minions a master on this machine knows.
import { join } from 'node:path';
import { defineModule, fn, newDict, pyStr } from 'halite/sdk';
import { isFile, listDir } from 'halite/sdk/fs';

const folders = ['minions', 'minions_pre', 'minions_rejected', 'minions_denied'];

export default defineModule({
  name: 'minion',
  doc: 'Minions that a master on this machine knows.',
  reads: ['list'],
  functions: {
    list: fn({
      doc: 'Ids of minions by the state of their keys, if the master runs on the same machine.',
      examples: ["salt 'master' minion.list"],
      async run(_, ctx) {
        const keys = pyStr(await ctx.call('config.get', 'pki_dir', '')).replaceAll('minion', 'master');
        const ids = (folder: string): string[] =>
          listDir(join(keys, folder))
            .filter((name) => !name.startsWith('.') && isFile(join(keys, folder, name)))
            .sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1));
        return newDict(folders.map((folder) => [folder, ids(folder)]));
      },
    }),
  },
});
