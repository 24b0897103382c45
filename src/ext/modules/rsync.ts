// Execution module `rsync`: synchronizes folders.

import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import {
  commandError,
  defineModule,
  fn,
  invocationError,
  isTruthy,
  type ModuleContext,
  newDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { mkdtempSync, readText, rmSync } from 'halite/sdk/fs';
import { askTool, which } from 'halite/sdk/system';
import { words } from 'halite/sdk/text';

const flag = (doc: string) => p.bool({ default: false, doc });
const text = (doc: string) => p.string({ default: null, doc });

/** The given value, otherwise the configured option. */
async function chosen(key: string, given: Value, ctx: ModuleContext): Promise<Value> {
  return isTruthy(given) ? given : await ctx.call('config.option', `rsync.${key}`);
}

async function options(given: Record<string, Value>, ctx: ModuleContext): Promise<string[]> {
  const value = (key: string): Promise<Value> => chosen(key, given[key] ?? null, ctx);
  const on = async (key: string, option: string): Promise<string[]> => (isTruthy(await value(key)) ? [option] : []);
  const rsh = await value('rsh');
  const passwordfile = await value('passwordfile');
  const excludefrom = await value('excludefrom');
  const exclude = await value('exclude');
  const patterns = excludefrom ? [] : Array.isArray(exclude) ? exclude : exclude ? [exclude] : [];
  return [
    '-avz',
    ...(await on('delete', '--delete')),
    ...(await on('force', '--force')),
    ...(await on('update', '--update')),
    ...(rsh ? [`--rsh=${pyStr(rsh)}`] : []),
    ...(passwordfile ? ['--password-file', pyStr(passwordfile)] : []),
    ...(excludefrom ? ['--exclude-from', pyStr(excludefrom)] : []),
    ...patterns.flatMap((pattern) => ['--exclude', pyStr(pattern)]),
    ...(await on('dryrun', '--dry-run')),
    ...(Array.isArray(given['additional_opts']) ? given['additional_opts'].map(pyStr) : []),
  ];
}

/** Fetches a source from the file server; returns the local path. */
async function fetched(source: string, saltenv: string, folder: string, ctx: ModuleContext): Promise<string> {
  const path = source.slice('salt://'.length);
  const folders = await ctx.callWith('cp.list_master_dirs', [], newDict([['saltenv', saltenv]]));
  const isFolder = Array.isArray(folders) && folders.includes(path);
  const target = isFolder ? folder : join(folder, basename(path));
  const done = await ctx.call(isFolder ? 'cp.get_dir' : 'cp.get_file', source, target, saltenv);
  if (!isTruthy(done)) throw commandError(`${source} does not exist`);
  return isFolder ? `${join(folder, basename(path))}/` : target;
}

export default defineModule({
  name: 'rsync',
  doc: 'Synchronizes folders.',
  available: () =>
    which('rsync') !== null || 'The rsync execution module cannot be loaded: the rsync binary is not in the path.',
  reads: ['version', 'config'],
  functions: {
    rsync: fn({
      doc: 'Copies differences; returns the output of rsync.',
      examples: ["salt '*' rsync.rsync /srv/web/ backup:/srv/web/ delete=True"],
      params: {
        src: p.string({ doc: 'from here; also salt://' }),
        dst: p.string({ doc: 'to there' }),
        delete: flag('remove what is no longer in the source'),
        force: flag('also replace folders that are not empty'),
        update: flag('pass over files that are newer there'),
        passwordfile: text('file with the password of a daemon'),
        exclude: p.oneOf(['string', 'list'], { default: null, doc: 'patterns to exclude' }),
        excludefrom: text('file with such patterns'),
        dryrun: flag('only say what would be done'),
        rsh: text('shell for the other side'),
        additional_opts: p.oneOf(['list', 'string'], { default: null, doc: 'list of further options' }),
        saltenv: p.string({ default: 'base', doc: 'environment of salt://' }),
      },
      reads: ({ dryrun }) => dryrun,
      async run({ saltenv, ...args }, ctx) {
        const src = pyStr((await chosen('src', args.src, ctx)) ?? '');
        const dst = pyStr((await chosen('dst', args.dst, ctx)) ?? '');
        if (!src || !dst) throw invocationError('src and dst cannot be empty');
        const folder = src.startsWith('salt://') ? mkdtempSync(join(tmpdir(), 'halite-rsync-')) : undefined;
        try {
          const from = folder ? await fetched(src, saltenv, folder, ctx) : src;
          const command = ['rsync', ...(await options(args as Record<string, Value>, ctx)), from, dst];
          return await ctx.callWith('cmd.run_all', [command], newDict([['python_shell', false]]));
        } finally {
          if (folder) rmSync(folder, { recursive: true, force: true });
        }
      },
    }),
    version: fn({
      doc: 'Version of rsync.',
      examples: ["salt '*' rsync.version"],
      run: async (_, ctx) => words((await askTool(ctx, 'rsync', ['--version'])).stdout)[2] ?? '',
    }),
    config: fn({
      doc: 'The configuration of the daemon.',
      examples: ["salt '*' rsync.config"],
      params: { conf_path: p.path({ default: '/etc/rsyncd.conf', doc: 'the file' }) },
      run(args) {
        const found = readText(args.conf_path);
        if (found === undefined) throw commandError(`${args.conf_path} does not exist`);
        return found;
      },
    }),
  },
});
