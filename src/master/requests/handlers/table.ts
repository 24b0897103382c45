// Every command a minion may send, by name; anything not listed here does not exist.
import type { PlainDict, Value } from '../../../base/codec/value.ts';
import type { ChunkRequest } from '../../../base/crypto/index.ts';
import type { Master, Sender } from '../../core.ts';
import type { MasterFunctions } from '../../local/functions.ts';
import { eventHandlers } from './events.ts';
import { fileHandlers } from './files.ts';
import { mineHandlers } from './mine.ts';
import { optionHandlers } from './options.ts';
import { peerHandlers } from './peer.ts';
import { pillarHandlers } from './pillar.ts';
import { returnHandlers } from './returns.ts';

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

export function buildHandlers(master: Master, functions: MasterFunctions): HandlerTable {
  const families: Handlers[] = [
    returnHandlers(master),
    eventHandlers(master),
    pillarHandlers(master),
    fileHandlers(master),
    mineHandlers(master),
    optionHandlers(master),
    peerHandlers(master, functions),
  ];
  return new Map(families.flatMap((family) => Object.entries(family)));
}
