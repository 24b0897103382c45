// `master.import`: the source for a clone out of an exported master, after its seal and its signature were checked.
import { createReadStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { cleanKey, fingerprint, matchesFingerprint } from '../../../base/crypto/index.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import { keyFiles, keyFolders } from '../key-files.ts';
import { readOldMaster } from '../old-master.ts';
import { FolderSource } from '../sources/folder.ts';
import type { Source } from '../sources/source.ts';
import { decompressor } from './compression.ts';
import { aboutEntry } from './export.ts';
import type { Opener, ToOpen } from './lock.ts';
import { type SealHeader, unseal } from './seal.ts';
import { type Unpacked, unpack } from './unpack.ts';

export interface ImportRequest {
  readonly file: string;
  /** The fingerprint that the operator expects, or ''. */
  readonly finger: string;
  readonly scratch: string;
  /** What opens a file with that lock. */
  opener(needs: ToOpen): Promise<Opener>;
  say(text: string): void;
}

export async function openExport(request: ImportRequest): Promise<Source> {
  const { file, finger, scratch } = request;
  const root = mkdtempSync(join(scratch, 'import-'));
  const close = async (): Promise<void> => rmSync(root, { recursive: true, force: true });
  try {
    const ask = async ({ pem, needs }: SealHeader): Promise<Opener> => {
      const print = fingerprint(pem);
      request.say(`the master in ${file} has the key ${print}`);
      if (finger !== '' && !matchesFingerprint(pem, finger))
        throw new HaliteError(
          'crypto.verify',
          `The master in ${file} has the key ${print}, not ${finger}. Nothing was changed`,
        );
      return request.opener(needs);
    };
    const { header, content } = await unseal(createReadStream(file), ask);
    const { facts, notes } = await unpackAll(content, header, root);
    const configDir = readAbout(join(root, aboutEntry));
    const source = new FolderSource({ name: file, configDir, root, facts, close });
    await checkKey(source, header, scratch);
    source.notes.push(...notes);
    return source;
  } catch (error) {
    await close();
    throw error;
  }
}

async function unpackAll(content: AsyncGenerator<Buffer>, header: SealHeader, root: string): Promise<Unpacked> {
  const decoder = decompressor(header.compression);
  let failure: unknown;
  const fed = pipeline(Readable.from(content), decoder).catch((error: unknown) => {
    failure = error;
  });
  try {
    const unpacked = await unpack(decoder as AsyncIterable<Uint8Array>, root);
    decoder.resume();
    await fed;
    if (failure !== undefined) throw failure;
    return unpacked;
  } catch (error) {
    decoder.destroy();
    await fed;
    // What the seal says about a changed file is nearer to the cause than what tar or gzip say.
    throw failure instanceof HaliteError
      ? failure
      : error instanceof HaliteError
        ? error
        : new HaliteError('codec.malformed', `The exported master is damaged: ${String(failure ?? error)}`);
  }
}

/** The signature says who packed; the key inside must be the same, or somebody else's master would come with it. */
async function checkKey(source: FolderSource, header: SealHeader, scratch: string): Promise<void> {
  const old = await readOldMaster(source, scratch);
  const key = keyFiles(old, await source.list(keyFolders(old))).files.find(({ name }) => name === 'master.pub');
  let pem = '';
  if (key)
    await source.read([key.file], async (_file, content) => {
      for await (const part of content) if (pem.length < 65_536) pem += Buffer.from(part).toString('latin1');
    });
  if (cleanKey(pem) !== header.pem)
    throw new HaliteError(
      'crypto.verify',
      'The exported master was signed with another key than the one inside. Nothing was changed',
    );
}

function readAbout(file: string): string {
  const said = JSON.parse(readFileSync(file, 'utf8')) as { version?: unknown; configDir?: unknown };
  if (said.version !== 1 || typeof said.configDir !== 'string' || !said.configDir.startsWith('/'))
    throw new HaliteError('codec.malformed', 'The exported master does not say where its configuration is');
  return said.configDir;
}
