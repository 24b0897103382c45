// `master.export`: everything that a clone would take, in one sealed and signed file.
import { createReadStream, createWriteStream, existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { cleanKey, fingerprint, loadPrivateKey, publicPem } from '../../../base/crypto/index.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import { flushNow } from '../../../base/util/replace-file.ts';
import { saltCacheFiles, saltCachePaths } from '../history/salt-cache.ts';
import { snapshotDatabase } from '../history/snapshot.ts';
import { keyFiles } from '../key-files.ts';
import type { OldMaster } from '../old-master.ts';
import { wantedPaths } from '../plan.ts';
import { hashOf } from '../sources/folder.ts';
import type { SourceFile } from '../sources/source.ts';
import { bestCompression, compressor } from './compression.ts';
import type { Lock } from './lock.ts';
import { seal } from './seal.ts';
import { tarEnd, tarHeader, tarPadding } from './tar.ts';

/** The entry that says where the configuration is. */
export const aboutEntry = 'halite-export.json';

export interface ExportRequest {
  readonly master: OldMaster;
  readonly file: string;
  readonly roots: boolean;
  readonly history: boolean;
  readonly dryRun: boolean;
  readonly scratch: string;
  passphrase(): Promise<string>;
}

/** What a sealed file shall contain. */
export interface PackRequest {
  readonly master: OldMaster;
  readonly file: string;
  readonly roots: boolean;
  readonly history: boolean;
  /** Also what waits for returners. */
  readonly spool: boolean;
  readonly scratch: string;
}

export interface Packing {
  /** Fingerprint of the master's key. */
  readonly finger: string;
  readonly count: number;
  /** Writes the file; it has its name only when it is whole and on the disk. */
  write(lock: Lock): Promise<void>;
}

export async function exportMaster(request: ExportRequest): Promise<string> {
  const { file } = request;
  const { finger, count, write } = await packMaster({ ...request, spool: false });
  const text = `${count} files of the master with the key ${finger} -> ${file}\n`;
  if (request.dryRun) return `${text}Nothing was written: this is a dry run.\n`;
  await write({ kind: 'scrypt', passphrase: await request.passphrase() });
  return `${text}Sealed with the passphrase and signed with that key. On the new machine: salt-run master.import ${file} finger=${finger}\n`;
}

export async function packMaster(request: PackRequest): Promise<Packing> {
  const { master, file } = request;
  if (existsSync(file))
    throw new HaliteError('path.refused', `${file} exists already`, { hint: 'Name a new file, or remove it first.' });
  const { opts } = master.config;
  const wanted = wantedPaths({ old: master, roots: request.roots, spool: request.spool });
  const files = [...master.files, ...(await master.source.list(wanted))];
  const key = keyFiles(master, files).files.find(({ name }) => name === 'master.pem');
  if (!key) throw new HaliteError('crypto.key', `There is no master.pem in ${opts.pki_dir}`);
  const passphraseOfKey = opts.raw['key_pass'];
  const privateKey = loadPrivateKey(key.file.path, typeof passphraseOfKey === 'string' ? passphraseOfKey : undefined);
  const history = request.history ? await historyFiles(master, request.scratch) : [];
  const pem = cleanKey(publicPem(privateKey));
  const about = Buffer.from(JSON.stringify({ version: 1, configDir: master.source.configDir }));
  const compression = bestCompression();
  const write = async (lock: Lock): Promise<void> => {
    const draft = `${file}.part`;
    let own = false;
    const packer = compressor(compression);
    try {
      const tar = tarOf(about, [...files.map((each) => ({ file: each, from: each.path })), ...history]);
      const packed = pipeline(Readable.from(tar), packer);
      const output = createWriteStream(draft, { mode: 0o600, flags: 'wx', flush: true } as object);
      output.once('open', () => (own = true));
      await Promise.all([packed, pipeline(seal(packer, { compression, pem }, lock, privateKey), output)]);
      renameSync(draft, file);
      flushNow(dirname(file));
    } catch (error) {
      throw readable(error, file);
    } finally {
      packer.destroy();
      if (own) rmSync(draft, { force: true });
    }
  };
  return { finger: fingerprint(pem), count: files.length + history.length, write };
}

function readable(error: unknown, file: string): unknown {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new HaliteError('call.failed', `The disk of ${file} is full: nothing was written`, { cause: error });
  if (code === 'EEXIST')
    return new HaliteError('path.refused', `${file}.part exists already: another run writes it`, {
      hint: `If none does, remove it: rm ${file}.part`,
      cause: error,
    });
  return error;
}

interface Packed {
  readonly file: SourceFile;
  /** Where the content is. */
  readonly from: string;
}

async function historyFiles(master: OldMaster, scratch: string): Promise<Packed[]> {
  const { cachedir } = master.config.opts;
  if (master.program === 'Salt') {
    const files = saltCacheFiles(cachedir, await master.source.list(saltCachePaths(cachedir)));
    return files.map((file) => ({ file, from: file.path }));
  }
  const copy = join(scratch, 'history.db');
  const copied = await snapshotDatabase(join(cachedir, 'halite.db'), copy);
  if (copied !== true)
    throw new HaliteError('store.unavailable', copied, { hint: 'To export without it: history=False' });
  const [listed] = await master.source.list([join(cachedir, 'halite.db')]);
  if (!listed) return [];
  return [{ file: { ...listed, size: statSync(copy).size, sha256: await hashOf(copy) }, from: copy }];
}

async function* tarOf(about: Buffer, files: readonly Packed[]): AsyncGenerator<Buffer> {
  yield tarHeader({ name: aboutEntry, size: about.length, mode: 0o600, owner: 'root' });
  yield Buffer.concat([about, tarPadding(about.length)]);
  for (const { file, from } of files) {
    yield tarHeader({ name: file.path.slice(1), size: file.size, mode: file.mode, owner: file.owner });
    let bytes = 0;
    for await (const part of createReadStream(from)) {
      bytes += (part as Buffer).length;
      yield part as Buffer;
    }
    if (bytes !== file.size)
      throw new HaliteError('call.failed', `${file.path} changed while it was exported`, {
        hint: 'Run the command again.',
      });
    yield tarPadding(file.size);
  }
  yield tarEnd;
}
