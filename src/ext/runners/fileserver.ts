// Runner `fileserver`: lists and updates the master's file server.
import { defineRunner, type MasterContext, masterFn, newDict, type PlainDict, p, type Value } from 'halite/sdk';

type Backend = Value;
interface Report {
  readonly done: readonly string[];
  readonly errors: readonly string[];
}

const backend = p.oneOf(['string', 'list'], {
  default: null,
  doc: 'backends by name, as a list or separated by commas; names with a leading minus are excluded',
});
const remote = p.string({ default: null, doc: 'only remotes whose address matches this glob' });
const listParams = { saltenv: p.string({ default: 'base', doc: 'environment' }), backend };

const listOf = (kind: 'files' | 'dirs' | 'emptyDirs', what: string, name: string) =>
  masterFn({
    doc: `${what} on the file server.`,
    examples: [`salt-run fileserver.${name}`, `salt-run fileserver.${name} saltenv=dev backend=git`],
    params: listParams,
    // As in Salt, empty folders are those of all backends, even if a backend was chosen.
    run: (args, ctx) => ctx.master.files.list(kind, args.saltenv, kind === 'emptyDirs' ? null : args.backend),
  });

/** `{key: lines, errors: lines}` without empty lists, or a message. */
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
  doc: 'List and update the master’s file server.',
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
      doc: 'Links on the file server and their targets.',
      examples: ['salt-run fileserver.symlink_list', 'salt-run fileserver.symlink_list saltenv=dev backend=git'],
      params: listParams,
      run: (args, ctx) => ctx.master.files.symlinks(args.saltenv, args.backend),
    }),
    update: masterFn({
      doc: 'Fetches new files from the sources of the backends.',
      examples: ['salt-run fileserver.update', 'salt-run fileserver.update backend=git remotes=myrepo,yourrepo'],
      params: { backend, kwargs: p.kwargs({ doc: 'remotes: only these, by address or name' }) },
      run: (args, ctx) => update(ctx, args.backend, args.kwargs),
    }),
    clear_cache: masterFn({
      doc: 'Removes fetched data of backends such as git; the next update fetches it again.',
      examples: ['salt-run fileserver.clear_cache', 'salt-run fileserver.clear_cache -roots'],
      params: { backend },
      run: async (args, ctx) =>
        reported(await ctx.master.files.clearCache(args.backend), 'cleared', 'No cache was cleared'),
    }),
    clear_file_list_cache: masterFn({
      doc: 'Clears cached lists of files, so that the next request reads the folders again; returns the environments by backend.',
      examples: ['salt-run fileserver.clear_file_list_cache', 'salt-run fileserver.clear_file_list_cache saltenv=base'],
      params: {
        saltenv: p.oneOf(['string', 'list'], { default: null, falsy: null, doc: 'environments; all when not given' }),
        backend,
      },
      run: async (args, ctx) =>
        newDict(Object.entries(await ctx.master.files.forgetLists(names(args.saltenv), args.backend))),
    }),
    lock: masterFn({
      doc: 'Locks remotes of git backends, so that they are not updated.',
      examples: ['salt-run fileserver.lock', "salt-run fileserver.lock backend=git remote='*github.com*'"],
      params: { backend, remote },
      run: async (args, ctx) =>
        reported(await ctx.master.files.lock(args.backend, args.remote ?? undefined), 'locked', 'No locks were set'),
    }),
    clear_lock: masterFn({
      doc: 'Releases locked remotes.',
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
