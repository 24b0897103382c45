// Execution module `archive`: packs, unpacks and lists archives.

import { join, relative } from 'node:path';
import {
  commandError,
  commandNotFound,
  defineModule,
  fn,
  invocationError,
  type ModuleContext,
  messageOf,
  p,
  pyRepr,
  pyStr,
  type Value,
} from 'halite/sdk';
import { compareText } from 'halite/sdk/codec';
import { existsSync, globPaths, osText, readdirSync, readFileSync, rmSync, statSync } from 'halite/sdk/fs';
import { which } from 'halite/sdk/system';
import { lines, shellSplit, words } from 'halite/sdk/text';
import { checkRar, checkTar, checkZip, unpacks } from '../../shared/archive/check-archive.ts';
import { formatOf, listArchive, whereabouts, withTop } from '../../shared/archive/list.ts';
import { unzip } from '../../shared/archive/unzip.ts';
import { type NewEntry, writeZip, ZipFile } from '../../shared/archive/zip-file.ts';

const texts = (value: Value): string[] =>
  value === null
    ? []
    : Array.isArray(value)
      ? value.map(pyStr)
      : pyStr(value)
          .split(',')
          .map((item) => item.trim());
const expanded = (sources: Value): string[] =>
  texts(sources).flatMap((source) => (/[*?[]/.test(source) ? globPaths(source) : [source]));

/** Limits the list of names, with a note about the omitted ones. */
function trimmed(files: string[], trim: Value): string[] {
  const count = trim === false || trim === null ? undefined : trim === true ? 100 : Number(pyStr(trim));
  return count === undefined || files.length <= count
    ? files
    : [...files.slice(0, count), `List trimmed after ${count} files.`];
}

interface RunOptions {
  readonly cwd?: string | null;
  readonly template?: Value;
  readonly runas?: Value;
}

async function run(words: string[], options: RunOptions, ctx: ModuleContext): Promise<string[]> {
  const { cwd = null, template = null, runas = null } = options;
  return lines(pyStr(await ctx.callWith('cmd.run', [words], { cwd, template, runas, python_shell: false })));
}

/** Salt's sentence for one program, and for a choice of several. */
const notFound = ([first = '', ...others]: readonly string[]): string =>
  others.length === 0
    ? `The '${first}' binary was not found in $PATH.`
    : `None of provided binaries(${pyRepr([first, ...others].map((name) => `'${name}'`))}) were found in $PATH.`;

/** The name of the first program that is installed: programs use it in their own messages. */
function need(...programs: string[]): string {
  const found = programs.find((name) => which(name) !== null);
  if (!found) throw commandNotFound(notFound(programs));
  return found;
}

const passwordOf = (password: string | null): string | undefined => (password === null ? undefined : pyStr(password));

function* zipEntries(sources: readonly string[], cwd: string | null): Generator<NewEntry> {
  const nameOf = (path: string): string => relative(cwd && path.startsWith(cwd) ? cwd : '/', path);
  const add = function* (path: string): Generator<NewEntry> {
    const stats = statSync(path);
    if (!stats.isDirectory()) return void (yield { name: nameOf(path), mode: stats.mode, content: readFileSync(path) });
    if (nameOf(path)) yield { name: `${nameOf(path)}/`, mode: stats.mode, content: Buffer.alloc(0) };
    for (const entry of readdirSync(path).sort(compareText)) yield* add(join(path, entry));
  };
  for (const source of sources) {
    const path = cwd ? join(cwd, source) : source;
    if (existsSync(path)) yield* add(path);
  }
}

/** Salt's message for a missing local archive. */
const noArchive = (name: string): string => `[Errno 2] No such file or directory: '${name}'.${whereabouts(name)}`;

async function cachedFile(
  name: string,
  saltenv: string,
  sourceHash: string | null,
  useEtag: boolean,
  ctx: ModuleContext,
  failing = '',
): Promise<string> {
  const path = name.startsWith('/')
    ? name
    : await ctx.files.cacheFile(name, {
        saltenv,
        sourceHash: sourceHash === null ? undefined : pyStr(sourceHash),
        useEtag,
      });
  if (!path || !existsSync(path))
    throw commandError(name.startsWith('/') ? failing + noArchive(name) : `Failed to cache ${name}`);
  return path;
}

const common = {
  template: p.string({ default: null, doc: 'engine the command is rendered with' }),
  runas: p.string({ default: null, doc: 'run as this user' }),
};
const cwd = p.string({ default: null, doc: 'folder to work in' });
const excludes = p.strings({ default: null, split: ',', doc: 'names to leave out' });
const trim_output = p.oneOf(['bool', 'int', 'string'], {
  default: false,
  doc: 'true for 100, or how many names to return',
});

export default defineModule({
  name: 'archive',
  doc: 'Packs, unpacks and lists archives.',
  reads: ['list', 'is_encrypted'],
  functions: {
    list: fn({
      doc: 'The content of a tar, zip or rar archive.',
      examples: [
        "salt '*' archive.list /path/to/myfile.tar.gz",
        "salt '*' archive.list salt://foo.tar.gz verbose=True",
      ],
      params: {
        name: p.string({ doc: 'archive: a path or address' }),
        archive_format: p.string({ default: null, doc: 'tar, zip or rar; by the name when left out' }),
        options: p.string({ default: null, doc: 'program that decompresses a tar archive' }),
        strip_components: p.string({ default: null, falsy: null, doc: 'number of leading folders to strip' }),
        clean: p.bool({ default: false, doc: 'remove the fetched archive' }),
        verbose: p.bool({ default: false, doc: 'list folders, files and links separately' }),
        saltenv: p.string({ default: 'base' }),
        source_hash: p.string({ default: null }),
        use_etag: p.bool({ default: false }),
      },
      async run(args, ctx) {
        const path = await cachedFile(
          args.name,
          args.saltenv,
          args.source_hash,
          args.use_etag,
          ctx,
          `Failed to list contents of ${args.name}: `,
        );
        const strip = args.strip_components ? Number(args.strip_components) : 0;
        if (!Number.isInteger(strip) || strip < 0) throw commandError("'strip_components' must be a positive integer");
        const format = args.archive_format ?? formatOf(args.name);
        if (!format)
          throw commandError(
            `Unable to guess archive format, please pass an 'archive_format' argument.${whereabouts(path)}`,
          );
        const found = await listArchive(args.name, path, format, args.options, strip, ctx);
        if (args.clean && path !== args.name) rmSync(path, { force: true });
        return args.verbose ? withTop(found) : [...found.dirs, ...found.files, ...found.links].sort(compareText);
      },
    }),
    is_encrypted: fn({
      doc: 'Whether a ZIP file needs a password.',
      examples: ["salt '*' archive.is_encrypted /path/to/myfile.zip"],
      params: {
        name: p.string(),
        clean: p.bool({ default: false }),
        saltenv: p.string({ default: 'base' }),
        source_hash: p.string({ default: null }),
        use_etag: p.bool({ default: false }),
      },
      async run(args, ctx) {
        const path = await cachedFile(args.name, args.saltenv, args.source_hash, args.use_etag, ctx);
        let zip: ZipFile;
        try {
          zip = new ZipFile(path);
        } catch {
          throw commandError(`${args.name} is not a ZIP file.${whereabouts(path)}`);
        }
        const encrypted = zip.entries.some((entry) => entry.encrypted);
        zip.close();
        if (args.clean && path !== args.name) rmSync(path, { force: true });
        return encrypted;
      },
    }),
    tar: fn({
      doc: 'Runs tar with any options.',
      examples: ["salt '*' archive.tar -cjvf /tmp/salt.tar.bz2 /tmp/file.txt"],
      params: {
        options: p.string(),
        tarfile: p.path(),
        sources: p.strings({ default: null, split: ',' }),
        dest: p.string({ default: null }),
        cwd,
        ...common,
      },
      async run(args, ctx) {
        if (!args.options) throw invocationError('Tar options can not be empty');
        const tar = need('tar');
        const { tarfile: path, dest, options } = args;
        if (unpacks(options)) await checkTar({ path, dest: dest ?? args.cwd, options }, ctx);
        return run(
          [
            tar,
            ...words(args.options),
            args.tarfile,
            ...(args.dest ? ['-C', args.dest] : []),
            ...expanded(args.sources),
          ],
          args,
          ctx,
        );
      },
    }),
    gzip: fn({
      doc: 'Compresses a file.',
      examples: ["salt '*' archive.gzip sourcefile=/tmp/sourcefile.txt"],
      params: { sourcefile: p.path(), ...common, options: p.string({ default: null }) },
      run: (args, ctx) => run([need('gzip'), ...(args.options ? [args.options] : []), args.sourcefile], args, ctx),
    }),
    gunzip: fn({
      doc: 'Decompresses a file.',
      examples: ["salt '*' archive.gunzip gzipfile=/tmp/sourcefile.txt.gz"],
      params: { gzipfile: p.path(), ...common, options: p.string({ default: null }) },
      run: (args, ctx) => run([need('gunzip'), ...(args.options ? [args.options] : []), args.gzipfile], args, ctx),
    }),
    cmd_zip: fn({
      doc: 'Packs files with the program zip.',
      examples: ["salt '*' archive.cmd_zip /tmp/baz.zip baz.txt cwd=/foo/bar"],
      params: {
        zip_file: p.path(),
        sources: p.strings({ split: ',', nullable: true }),
        template: common.template,
        cwd,
        runas: common.runas,
      },
      run: (args, ctx) => run([need('zip'), '-r', args.zip_file, ...expanded(args.sources)], args, ctx),
    }),
    zip: fn({
      doc: 'Packs files into a ZIP file.',
      examples: ["salt '*' archive.zip /tmp/zipfile.zip /tmp/sourcefile1,/tmp/sourcefile2"],
      params: {
        zip_file: p.path(),
        sources: p.strings({ split: ',', nullable: true }),
        template: common.template,
        cwd,
        runas: common.runas,
        zip64: p.bool({ default: false, doc: 'accepted' }),
      },
      run(args) {
        const sources = expanded(args.sources);
        if (!args.cwd && sources.some((source) => !source.startsWith('/')))
          throw invocationError("Relative paths require the 'cwd' parameter");
        if (args.cwd && !args.cwd.startsWith('/')) throw invocationError('cwd must be absolute');
        const names: string[] = [];
        const noted = function* (): Generator<NewEntry> {
          for (const entry of zipEntries(sources, args.cwd)) {
            names.push(entry.name);
            yield entry;
          }
        };
        try {
          writeZip(args.zip_file, noted());
        } catch (error) {
          throw commandError(`Exception encountered creating zipfile: ${messageOf(error)}`);
        }
        return names;
      },
    }),
    cmd_unzip: fn({
      doc: 'Unpacks a ZIP file with the program unzip.',
      examples: ["salt '*' archive.cmd_unzip /tmp/zipfile.zip /home/strongbad/ excludes=file_1,file_2"],
      params: {
        zip_file: p.path(),
        dest: p.path(),
        excludes,
        options: p.string({ default: null }),
        ...common,
        trim_output,
        password: p.string({ default: null }),
      },
      async run(args, ctx) {
        const program = need('unzip');
        checkZip(args.zip_file, args.dest, texts(args.excludes), passwordOf(args.password));
        const command = [
          program,
          ...(args.password ? ['-P', args.password] : []),
          ...shellSplit(args.options ?? ''),
          args.zip_file,
          '-d',
          args.dest,
          ...(args.excludes === null ? [] : ['-x', ...texts(args.excludes)]),
        ];
        const out = (await ctx.callWith('cmd.run_all', [command], {
          template: args.template,
          runas: args.runas,
          python_shell: false,
          redirect_stderr: true,
          output_loglevel: 'quiet',
        })) as { retcode?: Value; stdout?: Value };
        if (out.retcode !== 0) throw commandError(pyStr(out.stdout ?? ''));
        return trimmed(lines(pyStr(out.stdout ?? '')), args.trim_output);
      },
    }),
    unzip: fn({
      doc: 'Unpacks a ZIP file.',
      examples: ["salt '*' archive.unzip /tmp/zipfile.zip /home/strongbad/ excludes=file_1,file_2"],
      params: {
        zip_file: p.path(),
        dest: p.path(),
        excludes,
        options: p.ignored({ default: null, doc: 'accepted' }),
        ...common,
        trim_output,
        password: p.string({ default: null }),
        extract_perms: p.bool({ default: true, doc: 'keep the modes of the archive' }),
      },
      run(args) {
        try {
          return trimmed(
            unzip(args.zip_file, args.dest, texts(args.excludes), passwordOf(args.password), args.extract_perms),
            args.trim_output,
          );
        } catch (error) {
          throw commandError(`Exception encountered unpacking zipfile: ${osText(error, args.zip_file)}`);
        }
      },
    }),
    rar: fn({
      doc: 'Packs files with the program rar.',
      examples: ["salt '*' archive.rar /tmp/rarfile.rar /tmp/sourcefile1,/tmp/sourcefile2"],
      params: {
        rarfile: p.path(),
        sources: p.strings({ split: ',', nullable: true }),
        template: common.template,
        cwd,
        runas: common.runas,
      },
      run: (args, ctx) => run([need('rar'), 'a', '-idp', args.rarfile, ...expanded(args.sources)], args, ctx),
    }),
    unrar: fn({
      doc: 'Unpacks a rar archive.',
      examples: ["salt '*' archive.unrar /tmp/rarfile.rar /home/strongbad/ excludes=file_1,file_2"],
      params: { rarfile: p.path(), dest: p.path(), excludes, ...common, trim_output },
      async run(args, ctx) {
        const program = need('unrar', 'rar');
        await checkRar(program, args.rarfile, args.dest, ctx);
        const left = texts(args.excludes).flatMap((item) => ['-x', item]);
        const files = await run([program, 'x', '-idp', args.rarfile, ...left, args.dest], args, ctx);
        return trimmed(files, args.trim_output);
      },
    }),
  },
});
