// Functions of `cp` that copy files to a path on the minion.
import { isUtf8 } from 'node:buffer';
import { dirname } from 'node:path';
import { fn, type ModuleContext, p, pyInt, pythonError, type Value } from 'halite/sdk';
import { chmod, mkdir, readFile, rename, stat, writeFile } from 'halite/sdk/fs';
import { environmentOf, saltenvParam } from './environment.ts';
import { isEngine, renderNames, renderText } from './templates.ts';

const copyParams = {
  template: p.string({
    default: null,
    doc: 'template engine for the names of source and destination (not the content)',
  }),
  gzip: p.oneOf(['int', 'string'], {
    default: null,
    falsy: null,
    doc: 'compress the transfer: 1 (fastest) to 9 (smallest)',
  }),
  kwargs: p.kwargs({ doc: 'pillar and pillarenv for the templates of names' }),
};

const levelOf = (gzip: Value): number | undefined =>
  gzip === null || gzip === false || gzip === '' ? undefined : pyInt(gzip);

export const getFunctions = {
  get_file: fn({
    doc: 'Copies one file from the file server to a path on the minion; the path, or nothing when there is no such file.',
    examples: [
      "salt '*' cp.get_file salt://path/to/file /minion/dest",
      "salt '*' cp.get_file 'salt://{{grains.os}}/vimrc' /etc/vimrc template=jinja",
      "salt '*' cp.get_file 'salt://vimrc?saltenv=dev' /etc/vimrc gzip=5",
    ],
    params: {
      path: p.text({ doc: 'salt:// address' }),
      dest: p.text({ doc: 'path on the minion; in an existing folder the file keeps its name' }),
      saltenv: saltenvParam,
      makedirs: p.bool({ default: false, doc: 'make missing folders' }),
      ...copyParams,
    },
    async run(args, ctx) {
      const saltenv = environmentOf(args.saltenv, ctx);
      const [path, dest] = await renderNames(args.path, args.dest, saltenv, args.template, args.kwargs, ctx);
      return ctx.files.getFile(path, dest, { saltenv, makedirs: args.makedirs, gzip: levelOf(args.gzip) });
    },
  }),
  get_dir: fn({
    doc: 'Copies a folder with everything below it from the file server; the paths that were written.',
    examples: ["salt '*' cp.get_dir salt://path/to/dir/ /minion/dest"],
    params: {
      path: p.text({ doc: 'salt:// address of a folder' }),
      dest: p.text({ doc: 'destination folder on the minion' }),
      saltenv: saltenvParam,
      ...copyParams,
    },
    async run(args, ctx) {
      const saltenv = environmentOf(args.saltenv, ctx);
      const [path, dest] = await renderNames(args.path, args.dest, saltenv, args.template, args.kwargs, ctx);
      const found = await ctx.files.getDir(path, dest, { saltenv, gzip: levelOf(args.gzip) });
      return found.map((item) => item || false);
    },
  }),
  get_url: fn({
    doc: 'Copies a file from any address to the minion: salt://, http://, https://, file:// or a plain path.',
    examples: [
      "salt '*' cp.get_url salt://my/file /tmp/mine",
      "salt '*' cp.get_url https://example.com/ /tmp/index.html",
    ],
    params: {
      path: p.text({ doc: 'address' }),
      dest: p.string({
        default: '',
        nullable: true,
        doc: 'path on the minion; empty for the cache, None for the content as result',
      }),
      saltenv: saltenvParam,
      makedirs: p.bool({ default: false, doc: 'make missing folders' }),
      source_hash: p.string({ default: null, doc: 'a cached copy with this digest is not fetched again' }),
    },
    async run(args, ctx) {
      const options = {
        saltenv: environmentOf(args.saltenv, ctx),
        makedirs: args.makedirs,
        sourceHash: args.source_hash ?? undefined,
      };
      if (typeof args.dest !== 'string') return (await contentOf(args.path, options.saltenv, ctx)) ?? false;
      const found = await ctx.files.getUrl(args.path, args.dest, options);
      if (found) return found;
      ctx.log.error('unable to fetch file', { path: args.path, saltenv: options.saltenv });
      // Salt: an address of the web whose folder is missing gives an empty text, a file of the master False.
      return args.path.startsWith('salt://') ? false : '';
    },
  }),
  get_file_str: fn({
    doc: 'The content of a file from any address; False when there is none.',
    examples: ["salt '*' cp.get_file_str salt://my/file"],
    params: { path: p.text({ doc: 'address' }), saltenv: saltenvParam },
    async run({ path, saltenv }, ctx) {
      const cached = await ctx.files.cacheFile(path, { saltenv: environmentOf(saltenv, ctx) });
      if (cached === '') return false;
      const bytes = await readFile(cached).catch(() => undefined);
      return bytes === undefined ? false : textOf(bytes);
    },
  }),
  get_template: fn({
    doc: 'Renders a file of the file server as a template and writes the result on the minion; returns the path, or nothing.',
    examples: ["salt '*' cp.get_template salt://path/to/template /minion/dest"],
    params: {
      path: p.text({ doc: 'address of the template' }),
      dest: p.text({ doc: 'path on the minion; empty for the cache' }),
      template: p.string({ default: 'jinja', doc: 'template engine' }),
      saltenv: saltenvParam,
      makedirs: p.bool({ default: false, doc: 'make missing folders' }),
      kwargs: p.kwargs({ doc: 'variables for the template, also in context and defaults' }),
    },
    async run(args, ctx) {
      const saltenv = environmentOf(args.saltenv, ctx);
      const source = await ctx.files.cacheFile(args.path, { saltenv });
      if (source === '') return '';
      if (!isEngine(args.template)) {
        ctx.log.error('attempted to render template with unavailable engine', { template: args.template });
        return '';
      }
      const text = await renderText(await readFile(source, 'utf8'), args.template, saltenv, args.kwargs, ctx, source);
      return placeText(text, args.dest || ctx.files.cacheDest(args.path, saltenv), args.makedirs || args.dest === '');
    },
  }),
};

async function contentOf(path: string, saltenv: string, ctx: ModuleContext): Promise<string | undefined> {
  const bytes = await ctx.files.read(path, { saltenv });
  return bytes === undefined ? undefined : textOf(bytes);
}

function textOf(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  throw pythonError('UnicodeDecodeError', "'utf-8' codec can't decode the file: it is not text");
}

/** Written to a temporary file in the same folder and renamed; an existing file keeps its mode. */
async function placeText(text: string, dest: string, makedirs: boolean): Promise<string> {
  const folder = await stat(dirname(dest)).catch(() => undefined);
  if (!folder?.isDirectory()) {
    if (!makedirs) return '';
    await mkdir(dirname(dest), { recursive: true });
  }
  const existing = await stat(dest).catch(() => undefined);
  const part = `${dest}.${process.pid}.part`;
  await writeFile(part, text, { mode: 0o600 });
  if (existing) await chmod(part, existing.mode & 0o7777);
  await rename(part, dest);
  return dest;
}
