// Functions of `cp` for the minion's file cache.

import { fn, type ModuleContext, p, type Value } from 'halite/sdk';
import { existsSync } from 'halite/sdk/fs';
import { environmentOf, pathList, saltenvParam } from './environment.ts';

const remote = /^(https?|ftp|s3|swift):/i;

/** Files from the web are fetched once per job, because it is unknown whether they changed in between. */
function fetchedInJob(ctx: ModuleContext): Map<string, string> {
  const jid = ctx.job['jid'] ?? null;
  const known = ctx.cache.get('cp.cache_file') as { jid: Value; paths: Map<string, string> } | undefined;
  if (known?.jid === jid) return known.paths;
  const paths = new Map<string, string>();
  ctx.cache.set('cp.cache_file', { jid, paths });
  return paths;
}

export const cacheFunctions = {
  cache_file: fn({
    doc: 'Copies a file into the minion’s cache and returns its path there; False when there is no such file.',
    examples: [
      "salt '*' cp.cache_file salt://path/to/file",
      "salt '*' cp.cache_file 'salt://path/to/file?saltenv=dev'",
    ],
    params: {
      path: p.text({ doc: 'address' }),
      saltenv: saltenvParam,
      source_hash: p.string({ default: null, doc: 'a cached copy with this digest is not fetched again' }),
      verify_ssl: p.bool({ default: true, doc: 'check certificates' }),
      use_etag: p.bool({ default: false, doc: 'ask the web server whether the cached copy is still valid' }),
    },
    async run(args, ctx) {
      const saltenv = environmentOf(args.saltenv, ctx);
      const known = remote.test(args.path) ? fetchedInJob(ctx) : undefined;
      const key = `${saltenv} ${args.path}`;
      const before = known?.get(key);
      if (before !== undefined && existsSync(before)) return before;
      const found = await ctx.files.cacheFile(args.path, {
        saltenv,
        sourceHash: args.source_hash ?? undefined,
        verifySsl: args.verify_ssl,
        useEtag: args.use_etag,
      });
      if (found === '') ctx.log.error('unable to cache file', { path: args.path, saltenv });
      else known?.set(key, found);
      return found || false;
    },
  }),
  cache_files: fn({
    doc: 'Copies several files into the minion’s cache.',
    examples: ["salt '*' cp.cache_files salt://pathto/file1,salt://pathto/file2"],
    params: {
      paths: p.strings({ split: ',', doc: 'addresses, as a list or separated by commas' }),
      saltenv: saltenvParam,
    },
    async run({ paths, saltenv }, ctx) {
      const found: Value[] = [];
      for (const path of pathList(paths)) {
        found.push((await ctx.files.cacheFile(path, { saltenv: environmentOf(saltenv, ctx) })) || false);
      }
      return found;
    },
  }),
  cache_dir: fn({
    doc: 'Copies everything below a folder of the file server into the minion’s cache.',
    examples: [
      "salt '*' cp.cache_dir salt://path/to/dir",
      "salt '*' cp.cache_dir salt://path include_pat='E@\\.conf$'",
    ],
    params: {
      path: p.text({ doc: 'salt:// address of a folder' }),
      saltenv: saltenvParam,
      include_empty: p.bool({ default: false, doc: 'make empty folders too' }),
      include_pat: p.oneOf(['string', 'list'], {
        default: null,
        falsy: null,
        doc: 'only matching names: a glob, or a regular expression after E@',
      }),
      exclude_pat: p.oneOf(['string', 'list'], { default: null, falsy: null, doc: 'exclude matching names' }),
    },
    run: (args, ctx) =>
      ctx.files.cacheDir(args.path, {
        saltenv: environmentOf(args.saltenv, ctx),
        includeEmpty: args.include_empty,
        includePattern: patterns(args.include_pat),
        excludePattern: patterns(args.exclude_pat),
      }),
  }),
  cache_master: fn({
    doc: 'Copies every file of an environment into the minion’s cache.',
    examples: ["salt '*' cp.cache_master"],
    params: { saltenv: saltenvParam },
    run: async ({ saltenv }, ctx) =>
      (await ctx.files.cacheAll(environmentOf(saltenv, ctx))).map((path) => path || false),
  }),
  cache_local_file: fn({
    doc: 'Copies a file of the minion into its cache.',
    examples: ["salt '*' cp.cache_local_file /etc/hosts"],
    params: { path: p.path({ doc: 'path on the minion' }) },
    async run({ path }, ctx) {
      if (!existsSync(path)) return '';
      const known = await ctx.files.isCached(path, environmentOf(null, ctx));
      if (known !== '') {
        const [now, then] = await Promise.all([ctx.files.hash(path), ctx.files.hash(known)]);
        if (now !== undefined && now.hsum === then?.hsum) return known;
      }
      return ctx.files.cacheLocalFile(path);
    },
  }),
  cache_dest: fn({
    doc: 'The cache path of a file, even if the file is not cached.',
    examples: ["salt '*' cp.cache_dest https://example.com/a.rpm", "salt '*' cp.cache_dest salt://my/file saltenv=dev"],
    params: { url: p.text({ doc: 'address' }), saltenv: saltenvParam },
    run: ({ url, saltenv }, ctx) => ctx.files.cacheDest(url, environmentOf(saltenv, ctx)),
  }),
  is_cached: fn({
    doc: 'The path of a file in the minion’s cache, or an empty text when it is not cached.',
    examples: ["salt '*' cp.is_cached salt://path/to/file"],
    params: { path: p.text({ doc: 'address or path' }), saltenv: saltenvParam },
    run: ({ path, saltenv }, ctx) => ctx.files.isCached(path, environmentOf(saltenv, ctx)),
  }),
  list_minion: fn({
    doc: 'Every file in the minion’s cache.',
    examples: ["salt '*' cp.list_minion"],
    params: { saltenv: saltenvParam },
    run: ({ saltenv }, ctx) => ctx.files.cached(environmentOf(saltenv, ctx)),
  }),
};

function patterns(value: Value): string | string[] | undefined {
  if (value === null || value === false || value === '') return undefined;
  return Array.isArray(value) ? value.map(String) : String(value);
}
