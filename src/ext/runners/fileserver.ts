// Runner `fileserver`: what the master's file server has, and bringing it up to date.
import { defineRunner, type MasterContext, masterFn, newDict, type PlainDict, p, type Value } from 'halite/sdk';

type Backend = Value;
interface Report {
  readonly done: readonly string[];
  readonly errors: readonly string[];
}

const backend = p.oneOf(['string', 'list'], {
  default: null,
  doc: 'backends by name, as a list or with commas between them; names with a minus before them are left out instead',
});
const remote = p.string({ default: null, doc: 'only remotes whose address fits this glob' });
const listParams = { saltenv: p.string({ default: 'base', doc: 'environment' }), backend };

const listOf = (kind: 'files' | 'dirs' | 'emptyDirs', what: string, name: string) =>
  masterFn({
    doc: `${what} on the file server.`,
    examples: [`salt-run fileserver.${name}`, `salt-run fileserver.${name} saltenv=dev backend=git`],
    params: listParams,
    // Salt: empty folders are those of all backends, whatever was chosen.
    run: (args, ctx) => ctx.master.files.list(kind, args.saltenv, kind === 'emptyDirs' ? null : args.backend),
  });

/** `{key: lines, errors: lines}` with what there is, or a sentence. */
function reported(report: Report, key: string, otherwise: string): Value {
  const found: PlainDict = newDict();
  if (report.done.length > 0) found[key] = [...report.done];
  if (report.errors.length > 0) found['errors'] = [...report.errors];
  return Object.keys(found).length > 0 ? found : otherwise;
}

const names = (value: Value): string[] | undefined => {
  if (value === null || value === '') return undefined;
  return (Array.isArray(value) ? value.map(String) : String(value).split(',')).map((name) => name.trim());
};

async function update(ctx: MasterContext, chosen: Backend, kwargs: PlainDict): Promise<boolean> {
  await ctx.master.files.update(chosen, names(kwargs['remotes'] ?? null));
  return true;
}

export default defineRunner({
  name: 'fileserver',
  doc: 'Look at the master’s file server and bring it up to date.',
  functions: {
    envs: masterFn({
      doc: 'Environments of the file server.',
      examples: ['salt-run fileserver.envs', 'salt-run fileserver.envs backend=roots,git'],
      params: { backend, sources: p.bool({ default: false, doc: 'the backends instead of the environments' }) },
      run: (args, ctx) =>
        args.sources ? ctx.master.files.backends(args.backend).sort() : ctx.master.files.envs(args.backend),
    }),
    file_list: listOf('files', 'Files', 'file_list'),
    dir_list: listOf('dirs', 'Folders', 'dir_list'),
    empty_dir_list: listOf('emptyDirs', 'Empty folders', 'empty_dir_list'),
    symlink_list: masterFn({
      doc: 'Links on the file server and where they lead.',
      examples: ['salt-run fileserver.symlink_list', 'salt-run fileserver.symlink_list saltenv=dev backend=git'],
      params: listParams,
      run: (args, ctx) => ctx.master.files.symlinks(args.saltenv, args.backend),
    }),
    update: masterFn({
      doc: 'Fetches what is new from where the files come from.',
      examples: ['salt-run fileserver.update', 'salt-run fileserver.update backend=git remotes=myrepo,yourrepo'],
      params: { backend, kwargs: p.kwargs({ doc: 'remotes: only these, by address or name' }) },
      run: (args, ctx) => update(ctx, args.backend, args.kwargs),
    }),
    clear_cache: masterFn({
      doc: 'Removes what backends such as git have fetched; the next update fetches it again.',
      examples: ['salt-run fileserver.clear_cache', 'salt-run fileserver.clear_cache -roots'],
      params: { backend },
      run: async (args, ctx) =>
        reported(await ctx.master.files.clearCache(args.backend), 'cleared', 'No cache was cleared'),
    }),
    clear_file_list_cache: masterFn({
      doc: 'Forgets lists of files, so that the next request reads the folders again; the environments by backend.',
      examples: ['salt-run fileserver.clear_file_list_cache', 'salt-run fileserver.clear_file_list_cache saltenv=base'],
      params: {
        saltenv: p.oneOf(['string', 'list'], { default: null, falsy: null, doc: 'environments; all when not given' }),
        backend,
      },
      run: async (args, ctx) =>
        newDict(Object.entries(await ctx.master.files.forgetLists(names(args.saltenv), args.backend))),
    }),
    lock: masterFn({
      doc: 'Keeps remotes of git backends from being updated.',
      examples: ['salt-run fileserver.lock', "salt-run fileserver.lock backend=git remote='*github.com*'"],
      params: { backend, remote },
      run: async (args, ctx) =>
        reported(await ctx.master.files.lock(args.backend, args.remote ?? undefined), 'locked', 'No locks were set'),
    }),
    clear_lock: masterFn({
      doc: 'Takes back what lock did.',
      examples: ['salt-run fileserver.clear_lock', "salt-run fileserver.clear_lock remote='*github.com*'"],
      params: { backend, remote },
      run: async (args, ctx) =>
        reported(
          await ctx.master.files.clearLock(args.backend, args.remote ?? undefined),
          'cleared',
          'No locks were removed',
        ),
    }),
  },
});
