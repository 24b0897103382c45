// Limits the keys of unknown ids that the master stores: every peer that reaches the request port can invent ids.
import { parseIp } from '../../base/util/ip.ts';
import type { KeyStore } from '../../store/keys.ts';

export interface NewKeyOptions {
  /** Maximum number of keys that wait for acceptance, and of those rejected automatically; 0 means no limit. */
  readonly max_pending_keys: number;
}

/**
 * New ids at once and per second, of all peers together and of one address. 10,000 minions are stored within three
 * minutes.
 */
const together = { burst: 2000, perSecond: 50 };
const oneAddress = { burst: 500, perSecond: 10 };
const mostAddresses = 1000;
/** Denied keys overwrite each other, one per known id: only their rate needs a limit. */
const denials = { burst: 200, perSecond: 5 };
/**
 * The folder is counted again after this time; in between our own writes are added. A folder of tens of thousands takes
 * long to count: it may take a fiftieth of the time.
 */
const countEveryMs = 1000;
const countShare = 50;

class Bucket {
  readonly #burst: number;
  readonly #perMs: number;
  #left: number;
  #at: number;

  constructor({ burst, perSecond }: typeof together, now: number) {
    this.#burst = burst;
    this.#perMs = perSecond / 1000;
    this.#left = burst;
    this.#at = now;
  }

  /** False when nothing is left; otherwise takes one. */
  take(now: number): boolean {
    this.#left = Math.min(this.#burst, this.#left + Math.max(0, now - this.#at) * this.#perMs);
    this.#at = now;
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }
}

/**
 * The address in `tcp://10.0.0.1:5123 name`; undefined where the transport does not know it. The peer chooses the name.
 * Of IPv6 the network counts, because its owner has all its addresses.
 */
function addressOf(peer: string): string | undefined {
  const text = /^tcp:\/\/(\S+):\d+(?: |$)/.exec(peer)?.[1]?.replace(/^\[|\]$/g, '');
  const address = text === undefined ? undefined : parseIp(text);
  if (address?.version !== 6) return text;
  // `::ffff:10.0.0.1` is an IPv4 address at a dual-stack socket.
  return address.value >> 32n === 0xffffn ? String(address.value) : `net ${address.value >> 64n}`;
}

interface Peer {
  readonly bucket: Bucket;
  stored: number;
}

export class NewKeys {
  readonly #keys: Pick<KeyStore, 'count'>;
  readonly #limit: number;
  readonly #now: () => number;
  readonly #together: Bucket;
  readonly #denials: Bucket;
  readonly #peers = new Map<string, Peer>();
  readonly #counted = {
    pending: { at: 0, number: 0, everyMs: countEveryMs },
    rejected: { at: 0, number: 0, everyMs: countEveryMs },
  };

  constructor(keys: Pick<KeyStore, 'count'>, options: NewKeyOptions, now: () => number = Date.now) {
    this.#keys = keys;
    this.#limit = options.max_pending_keys;
    this.#now = now;
    this.#together = new Bucket(together, now());
    this.#denials = new Bucket(denials, now());
  }

  /** Why the key of an unknown id is not stored now; undefined when it may be, and then it counts as stored. */
  refusal(state: 'pending' | 'rejected', address: string): string | undefined {
    const now = this.#now();
    const counted = this.#counted[state];
    if (now - counted.at >= counted.everyMs || now < counted.at) {
      const begun = performance.now();
      counted.number = this.#keys.count(state);
      counted.at = now;
      counted.everyMs = Math.max(countEveryMs, countShare * (performance.now() - begun));
    }
    if (this.#limit > 0 && counted.number >= this.#limit) {
      return `not stored: ${counted.number} ${state} keys are there already (max_pending_keys); look at them with "salt-key -l un", and accept or delete some`;
    }
    const peer = this.#peer(addressOf(address), now);
    // One address may fill half of the folder; the rest stays free for others.
    if (peer && this.#limit > 0 && peer.stored >= this.#limit / 2 && counted.number >= this.#limit / 2) {
      return 'not stored: half of max_pending_keys are keys from this address; accept or delete some';
    }
    if ((peer && !peer.bucket.take(now)) || !this.#together.take(now)) {
      return 'not stored yet: too many new ids in a short time; the minion will retry';
    }
    if (peer) peer.stored++;
    counted.number++;
    return undefined;
  }

  /** Whether another key of a known id is now stored as denied. */
  mayDeny(): boolean {
    return this.#denials.take(this.#now());
  }

  #peer(address: string | undefined, now: number): Peer | undefined {
    if (address === undefined) return undefined;
    const known = this.#peers.get(address);
    if (known) return known;
    // When there are more addresses, the oldest entries are dropped; the common limit still applies.
    if (this.#peers.size >= mostAddresses) this.#peers.delete(this.#peers.keys().next().value as string);
    const fresh = { bucket: new Bucket(oneAddress, now), stored: 0 };
    this.#peers.set(address, fresh);
    return fresh;
  }
}
