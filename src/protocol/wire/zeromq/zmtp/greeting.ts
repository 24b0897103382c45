// How two ZeroMQ peers negotiate the version of ZMTP (RFC 13, 15, 23, 37), on the listening side.
import { HaliteError } from '../../../../base/errors/index.ts';

/** Generations of framing: 1 of libzmq 2.x, 2 of libzmq 3.x, 3 of libzmq 4.x. */
export type Generation = 1 | 2 | 3;

export interface Greeting {
  readonly generation: Generation;
  /** Of generation 3: version 1 has heartbeats and subscription commands. */
  readonly minor: number;
  /** Generation 1 without a signature: its first bytes are already a frame, and it forwards no subscriptions. */
  readonly unversioned: boolean;
  /** Number of bytes of the greeting; frames follow. */
  readonly length: number;
}

export interface SocketType {
  readonly name: 'ROUTER' | 'XPUB';
  /** Its number in ZMTP 2.0. */
  readonly number: number;
  /** Which types of peers may connect to it. */
  readonly accepts: ReadonlySet<string>;
}

export const routerType: SocketType = { name: 'ROUTER', number: 6, accepts: new Set(['REQ', 'DEALER', 'ROUTER']) };
export const xpubType: SocketType = { name: 'XPUB', number: 9, accepts: new Set(['SUB', 'XSUB']) };

const signatureBytes = 10;
const fullBytes = 64;
const version2Bytes = 12;

/** Sent first to every peer; the oldest ones read it as an empty identity. */
export const signature = Buffer.from([0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f]);
/** The rest of a greeting of ZMTP 3.1 with the mechanism NULL. */
const rest3 = Buffer.alloc(fullBytes - signatureBytes);
rest3.set([3, 1, ...Buffer.from('NULL')]);

/** What a dialling side of ZMTP 3 sends at once: it need not know how old the other one is. */
export const clientGreeting: Buffer = Buffer.concat([signature, rest3]);

/** Parses the bytes received so far; undefined when more are needed. */
export function readGreeting(bytes: Buffer): Greeting | undefined {
  if (bytes.length === 0) return undefined;
  if (bytes[0] !== 0xff) return { generation: 1, minor: 0, unversioned: true, length: 0 };
  if (bytes.length < signatureBytes) return undefined;
  // In a frame of ZMTP 1.0 this byte has the flags of an identity, whose last bit is 0.
  if (((bytes[9] as number) & 1) === 0) return { generation: 1, minor: 0, unversioned: true, length: 0 };
  const major = bytes[10];
  if (major === undefined || bytes.length < version2Bytes) return undefined;
  if (major === 0) return { generation: 1, minor: 0, unversioned: false, length: version2Bytes };
  if (major < 3) return { generation: 2, minor: 0, unversioned: false, length: version2Bytes };
  if (bytes.length < fullBytes) return undefined;
  const mechanism = bytes.toString('latin1', 12, 32).replace(/\0+$/, '');
  if (mechanism !== 'NULL') throw new HaliteError('codec.malformed', 'The peer asks for a mechanism other than NULL');
  return { generation: 3, minor: bytes[11] as number, unversioned: false, length: fullBytes };
}

/** What we send next. A peer sends its version after our signature, and the rest after our version. */
export class GreetingAnswer {
  readonly #own: SocketType;
  #sent: 'signature' | 'version' | 'all' = 'signature';

  constructor(own: SocketType) {
    this.#own = own;
  }

  /** The bytes that may be sent after the input so far; empty when there are none. */
  next(bytes: Buffer): Buffer {
    const parts: Buffer[] = [];
    const versioned = bytes.length >= signatureBytes && bytes[0] === 0xff && ((bytes[9] as number) & 1) === 1;
    if (versioned && this.#sent === 'signature') {
      this.#sent = 'version';
      parts.push(rest3.subarray(0, 1));
    }
    const major = bytes[10];
    if (this.#sent === 'version' && major !== undefined) {
      this.#sent = 'all';
      parts.push(major < 3 ? Buffer.from([this.#own.number]) : rest3.subarray(1));
    }
    return Buffer.concat(parts);
  }
}
