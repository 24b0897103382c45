// The side of a synchronisation that has the files: what it offers to one member, for as long as its operator waits.
import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { textField } from '../../../base/codec/fields.ts';
import { asDict, dictGet, isTexts, type Value } from '../../../base/codec/value.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import type { Member } from '../../../engine/cluster/api.ts';
import { entriesInMessage, entryOf, folderEntry } from './manifest.ts';
import type { ReadTree } from './tree.ts';

/** One message of the engine holds less than a megabyte. */
const chunkBytes = 256 * 1024;
const mostAsked = 64;

export interface OfferedTree {
  readonly folder: string;
  readonly tree: ReadTree;
}

export class Offers {
  readonly #offers = new Map<string, { readonly to: string; readonly trees: readonly OfferedTree[] }>();

  /** Until `end` is called; only this member may ask for it. */
  open(session: string, to: string, trees: readonly OfferedTree[]): () => void {
    this.#offers.set(session, { to, trees });
    return () => this.#offers.delete(session);
  }

  /** Answers the question `files`: the entries of one tree, or the content of some of its files. */
  async *answer(body: Value, from: Member, signal: AbortSignal): AsyncIterable<Value> {
    const asked = asDict(body) ?? {};
    const offer = this.#offers.get(textField(asked, 'session') ?? '');
    const at = dictGet(asked, 'tree');
    const offered = offer?.to === from.id && typeof at === 'number' ? offer.trees[at] : undefined;
    if (!offered) throw new HaliteError('cluster.refused', 'nothing is offered under this number');
    const digests = dictGet(asked, 'digests');
    if (digests === undefined) yield* entries(offered.tree);
    else if (isTexts(digests) && digests.length <= mostAsked) yield* contents(offered, digests, signal);
    else throw new HaliteError('cluster.refused', 'it asks for files in a form that is not known');
  }
}

async function* entries({ files, folders }: ReadTree): AsyncIterable<Value> {
  const all = [...folders.map(folderEntry), ...files.map(entryOf)];
  for (let from = 0; from < all.length; from += entriesInMessage) yield all.slice(from, from + entriesInMessage);
}

async function* contents(
  { folder, tree }: OfferedTree,
  digests: readonly string[],
  signal: AbortSignal,
): AsyncIterable<Value> {
  const wanted = new Set(digests);
  for (const { path, digest } of tree.files) {
    if (!wanted.delete(digest)) continue;
    const full = join(folder, path);
    // What became a link since the tree was read is not followed.
    if ((await realpath(full)) !== full) throw new HaliteError('cluster.refused', `${path} became a link`);
    const handle = await open(full, constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      for (let position = 0; !signal.aborted; ) {
        const buffer = Buffer.allocUnsafe(chunkBytes);
        const { bytesRead } = await handle.read(buffer, 0, chunkBytes, position);
        if (bytesRead > 0 || position === 0) yield { digest, bytes: buffer.subarray(0, bytesRead) };
        if (bytesRead < chunkBytes) break;
        position += bytesRead;
      }
    } finally {
      await handle.close();
    }
  }
  if (wanted.size > 0) throw new HaliteError('cluster.refused', 'it asks for files that are not offered');
}
