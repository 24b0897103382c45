// Every command a minion may send, by name; anything not listed here does not exist.
import type { PlainDict, Value } from '../../../base/codec/value.ts';
import type { ChunkRequest } from '../../../base/crypto/index.ts';
import type { Sender } from '../sender.ts';

/** A reply that is sealed and packed already, as it goes over the wire. */
export class PackedReply {
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }
}

/** Seals a chunk of a file, behind room for its head, as the answer to this very request. */
export type ChunkSeal = (buffer: Buffer, part: Omit<ChunkRequest, 'nonce' | 'id'>) => PackedReply;

type Answer = Value | PackedReply;

export interface Handler {
  /** 'private' replies are sealed with a one-time key and signed (`_pillar`). */
  readonly reply?: 'private';
  /** `seal` is there for minions that can have their own kind of reply. */
  run(load: PlainDict, sender: Sender, seal?: ChunkSeal): Promise<Answer> | Answer;
}
export type HandlerTable = ReadonlyMap<string, Handler>;
export type Handlers = Readonly<Record<string, Handler>>;

/** One table of all families; each is built with what it needs. */
export const handlerTable = (...families: readonly Handlers[]): HandlerTable =>
  new Map(families.flatMap((family) => Object.entries(family)));
