// All commands that a minion may send, by name; others do not exist.
import type { PlainDict, Value } from '../../../base/codec/value.ts';
import type { ChunkRequest } from '../../../base/crypto/index.ts';
import type { Sender } from '../sender.ts';

/** A reply that is already encrypted and packed, as sent over the network. */
export class PackedReply {
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }
}

/** Encrypts a chunk of a file, placed after the space for its head, as the answer to exactly this request. */
export type ChunkSeal = (buffer: Buffer, part: Omit<ChunkRequest, 'nonce' | 'id'>) => PackedReply;

type Answer = Value | PackedReply;

export interface Handler {
  /** 'private' replies are encrypted with a one-time key and signed (`_pillar`). */
  readonly reply?: 'private';
  /** `seal` is set for minions that support Halite's own format of replies. */
  run(load: PlainDict, sender: Sender, seal?: ChunkSeal): Promise<Answer> | Answer;
}
export type HandlerTable = ReadonlyMap<string, Handler>;
export type Handlers = Readonly<Record<string, Handler>>;

/** One table of all groups of handlers; each is built with its dependencies. */
export const handlerTable = (...families: readonly Handlers[]): HandlerTable =>
  new Map(families.flatMap((family) => Object.entries(family)));
