// Execution module `minion`: the masters of this minion, and which minions a master on this machine knows.
import { join } from 'node:path';
import { defineModule, fn, HaliteError, newDict, p, pyStr } from 'halite/sdk';
import { isFile, listDir } from 'halite/sdk/fs';

const folders = ['minions', 'minions_pre', 'minions_rejected', 'minions_denied'];

export default defineModule({
  name: 'minion',
  doc: 'Minions that a master on this machine knows.',
  reads: ['list'],
  functions: {
    use_master: fn({
      doc: 'Moves this minion to another master of the same key: dials it, verifies its key and its pillar, writes `minion.d/_masters.conf`, and keeps the old masters until the new one has held. Nothing is restarted. Not in Salt.',
      examples: ["salt '*' minion.use_master new:4506", "salt '*' minion.use_master new:4506 finish=True"],
      params: {
        address: p.string({ doc: 'the new master: `host`, `host:port`' }),
        hold: p.int({
          default: 3600,
          doc: 'seconds for which the new one must be connected before the old ones are dropped',
        }),
        finish: p.bool({ default: false, doc: 'drop the old ones now' }),
        test: p.bool({ default: false, doc: 'only dial and verify' }),
      },
      async run({ address, hold, finish, test }, ctx) {
        if (!ctx.minion.handover) throw new HaliteError('call.failed', 'There is no running minion here');
        return ctx.minion.handover(newDict(Object.entries({ to: address, hold, finish, test: test || ctx.test })));
      },
    }),
    master_key: fn({
      doc: 'Asks the masters whether they are going to change their key, and stores what the present key signed about the next one. Gives the fingerprints of both; an empty text is none. Not in Salt.',
      examples: ["salt '*' minion.master_key"],
      params: {},
      async run(_, ctx) {
        if (!ctx.minion.masterKey) throw new HaliteError('call.failed', 'There is no running minion here');
        return ctx.minion.masterKey();
      },
    }),
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
