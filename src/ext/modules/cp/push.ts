// Functions of `cp` that send files to the master.

import { isAbsolute, join } from 'node:path';
import { fn, type ModuleContext, p } from 'halite/sdk';
import { readdir, realpath, stat } from 'halite/sdk/fs';
import { matchesGlob } from 'halite/sdk/text';

async function push(
  path: string,
  options: Parameters<ModuleContext['files']['push']>[1],
  ctx: ModuleContext,
): Promise<boolean> {
  const done = await ctx.files.push(path, options);
  if (!done) {
    ctx.log.error('cp.push failed; the master must have file_recv set and file_recv_max_size large enough', { path });
  }
  return done;
}

export const pushFunctions = {
  push: fn({
    doc: 'Sends a file to the master, which stores it in its cache below the minion’s id; only if file_recv is set there.',
    examples: [
      "salt '*' cp.push /etc/fstab",
      "salt '*' cp.push /etc/fstab upload_path='/new/path/fstab'",
      "salt '*' cp.push /tmp/filename remove_source=True",
    ],
    params: {
      path: p.path({ doc: 'absolute path on the minion' }),
      keep_symlinks: p.bool({ default: false, doc: 'use the path as it is, without following links' }),
      upload_path: p.string({ default: null, doc: 'another path on the master' }),
      remove_source: p.bool({ default: false, doc: 'remove the file after the transfer' }),
    },
    run: (args, ctx) =>
      push(
        args.path,
        {
          keepSymlinks: args.keep_symlinks,
          uploadPath: args.upload_path ?? undefined,
          removeSource: args.remove_source,
        },
        ctx,
      ),
  }),
  push_dir: fn({
    doc: 'Sends every file below a folder to the master.',
    examples: [
      "salt '*' cp.push_dir /etc/modprobe.d/ glob='*.conf'",
      "salt '*' cp.push_dir /usr/lib/mysql upload_path='/mysql'",
    ],
    params: {
      path: p.path({ doc: 'absolute path on the minion' }),
      glob: p.string({ default: null, doc: 'only files whose name matches' }),
      upload_path: p.string({ default: null, doc: 'another folder on the master' }),
    },
    async run({ path, glob, upload_path }, ctx) {
      if (path.includes('../') || !isAbsolute(path)) return false;
      const root = await realpath(path).catch(() => path);
      const found = await stat(root).catch(() => undefined);
      if (found?.isFile()) return push(root, { uploadPath: upload_path ?? undefined }, ctx);
      const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch(() => []);
      const files = entries.filter((entry) => !entry.isDirectory() && (glob === null || matchesGlob(entry.name, glob)));
      if (files.length === 0) return false;
      for (const file of files) {
        const full = join(file.parentPath, file.name);
        const target = upload_path
          ? join('/', upload_path.replace(/^\/+|\/+$/g, ''), full.slice(root.length))
          : undefined;
        if (!(await push(full, { uploadPath: target }, ctx))) return false;
      }
      return true;
    },
  }),
};
