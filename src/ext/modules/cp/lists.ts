// Functions of `cp` that list the content of the file server.
import { fn, newDict, p } from 'halite/sdk';
import { environmentOf, saltenvParam } from './environment.ts';

const listParams = {
  saltenv: saltenvParam,
  prefix: p.text({ default: '', doc: 'only names that begin with this text' }),
};
const fileParams = {
  path: p.text({ doc: 'salt:// address, or a path on the minion' }),
  saltenv: saltenvParam,
};

export const listFunctions = {
  envs: fn({
    doc: 'Environments of the file server.',
    examples: ["salt '*' cp.envs"],
    run: (_, ctx) => ctx.files.envs(),
  }),
  list_master: fn({
    doc: 'Files on the file server.',
    examples: ["salt '*' cp.list_master"],
    params: listParams,
    run: ({ saltenv, prefix }, ctx) => ctx.files.list('files', environmentOf(saltenv, ctx), prefix),
  }),
  list_master_dirs: fn({
    doc: 'Folders on the file server.',
    examples: ["salt '*' cp.list_master_dirs"],
    params: listParams,
    run: ({ saltenv, prefix }, ctx) => ctx.files.list('dirs', environmentOf(saltenv, ctx), prefix),
  }),
  list_master_symlinks: fn({
    doc: 'Links on the file server and their targets.',
    examples: ["salt '*' cp.list_master_symlinks"],
    params: listParams,
    run: ({ saltenv, prefix }, ctx) => ctx.files.symlinks(environmentOf(saltenv, ctx), prefix),
  }),
  list_states: fn({
    doc: 'Names of the states on the file server.',
    examples: ["salt '*' cp.list_states"],
    params: { saltenv: saltenvParam },
    run: ({ saltenv }, ctx) => ctx.files.states(environmentOf(saltenv, ctx)),
  }),
  hash_file: fn({
    doc: 'The digest of a file on the file server or on the minion.',
    examples: ["salt '*' cp.hash_file salt://path/to/file", "salt '*' cp.hash_file /etc/hosts"],
    params: fileParams,
    async run({ path, saltenv }, ctx) {
      const found = await ctx.files.hash(path, environmentOf(saltenv, ctx));
      if (found) return newDict(Object.entries(found));
      // Salt: a file the master does not have is an empty text, one the minion does not have a pair.
      return path.startsWith('salt://') ? '' : [newDict(), null];
    },
  }),
  stat_file: fn({
    doc: 'The mode of a file on the file server or on the minion.',
    examples: ["salt '*' cp.stat_file salt://path/to/file", "salt '*' cp.stat_file /etc/hosts octal=False"],
    params: { ...fileParams, octal: p.bool({ default: true, doc: 'as text of four digits; otherwise the number' }) },
    async run({ path, saltenv, octal }, ctx) {
      const mode = (await ctx.files.stat(path, environmentOf(saltenv, ctx)))?.[0];
      if (mode === undefined) return null;
      return octal ? mode.toString(8).slice(-4) : mode;
    },
  }),
};
