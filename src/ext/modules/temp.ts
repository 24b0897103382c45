// Execution module `temp`: new files and folders with unique names.
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineModule, fn, p } from 'halite/sdk';
import { closeSync, mkdirSync, openSync } from 'halite/sdk/fs';

const params = {
  suffix: p.string({ default: '', doc: 'suffix of the name' }),
  prefix: p.string({ default: 'tmp', doc: 'prefix of the name' }),
  parent: p.path({ default: null, doc: 'the parent folder; default: that of the system' }),
};
type Place = { readonly suffix: string; readonly prefix: string; readonly parent: string | null };

const freshPath = ({ suffix, prefix, parent }: Place): string =>
  join(parent ?? tmpdir(), `${prefix}${randomBytes(5).toString('hex')}${suffix}`);

export default defineModule({
  name: 'temp',
  doc: 'Temporary files and folders.',
  functions: {
    dir: fn({
      doc: 'Creates a folder that only its owner may enter, and returns its path.',
      examples: ["salt '*' temp.dir", "salt '*' temp.dir prefix='mytemp-' parent='/var/run/'"],
      params,
      run(args) {
        const path = freshPath(args);
        mkdirSync(path, { mode: 0o700 });
        return path;
      },
    }),
    file: fn({
      doc: 'Creates an empty file that only its owner may read, and returns its path.',
      examples: ["salt '*' temp.file", "salt '*' temp.file prefix='mytemp-' parent='/var/run/'"],
      params,
      run(args) {
        const path = freshPath(args);
        closeSync(openSync(path, 'wx', 0o600));
        return path;
      },
    }),
  },
});
