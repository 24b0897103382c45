// A master in a tar archive: unpacked into a private folder, which is removed at the end.
import { closeSync, createReadStream, existsSync, mkdirSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';
import { HaliteError, messageOf } from '../../../base/errors/index.ts';
import { zstdReader } from '../bundle/compression.ts';
import { type UnpackLimits, unpack } from '../bundle/unpack.ts';
import { FolderSource } from './folder.ts';

function firstBytes(file: string): Buffer {
  const bytes = Buffer.alloc(16);
  const handle = openSync(file, 'r');
  try {
    return bytes.subarray(0, readSync(handle, bytes, 0, bytes.length, 0));
  } finally {
    closeSync(handle);
  }
}

/** The tar stream inside a file, by its first bytes. */
function tarStream(file: string): AsyncIterable<Uint8Array> {
  const start = firstBytes(file);
  const input = createReadStream(file);
  const through = (decoder: NodeJS.ReadWriteStream): AsyncIterable<Uint8Array> => {
    input.on('error', (error) => (decoder as unknown as { destroy(error: Error): void }).destroy(error));
    return input.pipe(decoder) as unknown as AsyncIterable<Uint8Array>;
  };
  if (start[0] === 0x1f && start[1] === 0x8b) return through(createGunzip());
  if (start.readUInt32LE(0) === 0xfd2fb528) return through(zstdReader());
  return input as AsyncIterable<Uint8Array>;
}

export interface ArchiveOptions {
  readonly file: string;
  readonly configDir: string;
  /** A private folder for what is unpacked. */
  readonly scratch: string;
  /** Smaller bounds than those of a move. */
  readonly most?: UnpackLimits;
}

export async function archiveSource({ file, configDir, scratch, most }: ArchiveOptions): Promise<FolderSource> {
  mkdirSync(scratch, { recursive: true, mode: 0o700 });
  const root = mkdtempSync(join(scratch, 'archive-'));
  const close = async (): Promise<void> => rmSync(root, { recursive: true, force: true });
  try {
    const { facts, notes } = await unpack(tarStream(file), root, most);
    if (!existsSync(join(root, configDir)))
      throw new HaliteError('config.missing', `${file} has no folder ${configDir}`, {
        hint: 'Name the configuration folder inside the archive with config=/path, and pack with absolute or complete names: tar czf old.tar.gz -C / etc/salt srv',
      });
    const source = new FolderSource({ name: file, configDir, root, facts, close });
    source.notes.push(...notes);
    return source;
  } catch (error) {
    await close();
    const code = String((error as NodeJS.ErrnoException).code ?? '');
    if (!code.startsWith('Z_') && !code.startsWith('ZSTD_')) throw error;
    throw new HaliteError('codec.malformed', `${file} is damaged or not complete: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
