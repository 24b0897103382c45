// Functions of `cp` that the command `salt-cp` calls: whole texts, or files and folders in chunks.

import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import {
  dictEntries,
  fn,
  isDict,
  type ModuleContext,
  messageOf,
  newDict,
  p,
  pythonError,
  type Value,
} from 'halite/sdk';
import { chmod, mkdir, open, osText, stat, writeFile } from 'halite/sdk/fs';

const unzip = promisify(gunzip);
/** A chunk never unpacks to more than this, whatever it claims. */
const maxChunkBytes = 1 << 30;

const isFolder = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined))?.isDirectory() ?? false;

export const receiveFunctions = {
  recv: fn({
    doc: 'Writes texts that are part of the job; used by salt-cp.',
    params: { files: p.dict({ doc: 'content by path' }), dest: p.text({ doc: 'file or folder on the minion' }) },
    async run({ files, dest }) {
      if (!isDict(files)) throw pythonError('AttributeError', 'the files are not a dictionary of path and content');
      const written = newDict();
      for (const [path, data] of dictEntries(files)) {
        const final = await placeFor(String(path), dest);
        if (final === undefined) return 'Destination unavailable';
        written[final] = await writeFile(final, data instanceof Uint8Array ? data : String(data)).then(
          () => true,
          () => false,
        );
      }
      return written;
    },
  }),
  recv_chunked: fn({
    doc: 'Writes one chunk of a file, or makes an empty folder; used by salt-cp.',
    params: {
      dest: p.text({ doc: 'path on the minion' }),
      chunk: p.scalar({ nullable: true, doc: 'the chunk in base64; None makes a folder' }),
      append: p.bool({ default: false, doc: 'append to the file' }),
      compressed: p.bool({ default: true, doc: 'the chunk is gzip' }),
      mode: p.oneOf(['int'], { default: null, doc: 'mode of the file, set with the first chunk' }),
    },
    async run(args, ctx) {
      if (args.chunk === null) return makeFolder(args.dest, ctx);
      try {
        return await writeChunk(args.dest, base64Of(args.chunk), args.append, args.compressed, args.mode);
      } catch (error) {
        return problem(error, args.dest, ctx);
      }
    },
  }),
};

/** If the destination is a folder, the file keeps its name there; otherwise the destination is the file. */
async function placeFor(path: string, dest: string): Promise<string | undefined> {
  if (await isFolder(dest)) return join(dest, basename(path));
  if (basename(path) === basename(dest) || (await isFolder(dirname(dest)))) return dest;
  return undefined;
}

async function makeFolder(dest: string, ctx: ModuleContext): Promise<Value> {
  const found = await stat(dest).catch(() => undefined);
  if (found) return found.isFile() ? 'Path exists and is a file' : true;
  return mkdir(dest, { recursive: true }).then(
    () => true,
    (error: unknown) => problem(error, dest, ctx),
  );
}

/** Salt's own command sends base64 as bytes, ours as text. */
const base64Of = (chunk: Value): string =>
  chunk instanceof Uint8Array ? Buffer.from(chunk).toString('latin1') : String(chunk);

async function writeChunk(
  dest: string,
  chunk: string,
  append: boolean,
  compressed: boolean,
  mode: Value,
): Promise<Value> {
  const packed = Buffer.from(chunk, 'base64');
  const data = compressed ? await unzip(packed, { maxOutputLength: maxChunkBytes }) : packed;
  const flags = append ? 'a' : 'w';
  const handle = await open(dest, flags).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    await mkdir(dirname(dest), { recursive: true });
    return open(dest, flags);
  });
  try {
    await handle.writeFile(data);
  } finally {
    await handle.close();
  }
  if (!append && typeof mode === 'number') await chmod(dest, mode & 0o7777);
  return true;
}

/** Returns the message and marks the job as failed. */
function problem(error: unknown, dest: string, ctx: ModuleContext): Value {
  ctx.setRetcode(1);
  const { syscall, path } = error as NodeJS.ErrnoException;
  return syscall === undefined ? messageOf(error) : osText(error, path ?? dest);
}
