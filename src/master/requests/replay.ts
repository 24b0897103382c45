// Encrypted requests are processed once. An attacker who recorded one can send it again; so does a real minion that
// got no answer in time, with the same bytes: it gets the answer of the first, and nothing is done twice.
import { newDict, type Value } from '../../base/codec/value.ts';
import { DigestSet } from '../../base/util/digest-set.ts';
import { openToFleet } from '../../protocol/wire/messages/request.ts';
import type { PackedReply } from './handlers/table.ts';

type Answer = Value | PackedReply;

/** Commands that only read: their answers are encrypted for the minion that owns them and may be sent again. */
const readOnly = new Set([
  ...openToFleet,
  '_master_tops',
  '_ext_nodes',
  '_mine_get',
  '_pillar',
  'pub_ret',
  'verify_minion',
]);

/** Without `request_server_ttl` a request never expires: digests need another time limit. */
const untimedMs = 3_600_000;
const longestMs = 86_400_000;
/** Per minion and half of the memory: a minion cannot make the master drop the digests of others. */
const mostDigests = 2048;
/** Number of answers other than the plain acknowledgement that are kept for a repeated request. */
const mostAnswers = 8;
const sweepMs = 300_000;
const digestBytes = 16;
/** What is stored of an answer: plain ones as they are, others only as a mark. */
const plain: readonly Answer[] = [null, true, false];
const notPlain = plain.length;

/** The requests of one minion: the newer half, and the older one until the newer is full or old enough. */
interface Memory {
  newer: DigestSet;
  older: DigestSet | undefined;
  since: number;
  windowMs: number;
  /** Answers in progress, and the last few that are not plain, by digest. */
  answers: Map<string, Answer | Promise<Answer>> | undefined;
  /** Digests of the latter, oldest first. */
  kept: string[] | undefined;
}

export class ReplayGuard {
  readonly #minions = new Map<string, Memory>();
  readonly #ttlSeconds: () => number;
  #sweptAt = 0;

  constructor(ttlSeconds: () => number) {
    this.#ttlSeconds = ttlSeconds;
  }

  /** The number of stored digests. */
  get size(): number {
    let sum = 0;
    for (const { newer, older } of this.#minions.values()) sum += newer.size + (older?.size ?? 0);
    return sum;
  }

  /**
   * Runs the request, unless the same bytes were processed before. `ts` is the minion's clock: a request from
   * the future stays valid for longer. A failed request was not done, and is done when it is repeated.
   */
  once(
    { id, cmd, ts }: { id: string; cmd: string; ts?: number | undefined },
    sealed: Uint8Array,
    run: () => Answer | Promise<Answer>,
  ): Answer | Promise<Answer> {
    if (readOnly.has(cmd)) return run();
    const memory = this.#memory(id, ts);
    const digest = digestOf(sealed);
    const key = digest.toString('latin1');
    const known = memory.answers?.get(key);
    if (known !== undefined) return known;
    const note = noteOf(memory, digest);
    if (note !== undefined) return note < notPlain ? (plain[note] as Answer) : newDict();
    const answer = run();
    remember(memory, key, answer);
    if (answer instanceof Promise) {
      answer.then(
        (value) => settle(memory, digest, key, value),
        () => forget(memory, key),
      );
    } else settle(memory, digest, key, answer);
    return answer;
  }

  /** For requests that are answered each time, but whose effects must happen once: whether this is a repetition. */
  isRepeated({ id, ts }: { id: string; ts?: number | undefined }, sealed: Uint8Array): boolean {
    const memory = this.#memory(id, ts);
    const digest = digestOf(sealed);
    if (noteOf(memory, digest) !== undefined) return true;
    memory.newer.set(digest, notPlain);
    return false;
  }

  #memory(id: string, ts: number | undefined): Memory {
    const now = Date.now();
    if (now - this.#sweptAt > sweepMs) this.#sweep(now);
    let memory = this.#minions.get(id);
    if (!memory) {
      memory = {
        newer: new DigestSet(),
        older: undefined,
        since: now,
        windowMs: 0,
        answers: undefined,
        kept: undefined,
      };
      this.#minions.set(id, memory);
    }
    const ttl = this.#ttlSeconds();
    const ahead = ts === undefined ? 0 : Math.max(0, ts * 1000 - now);
    memory.windowMs = Math.max(memory.windowMs, Math.min(longestMs, ttl > 0 ? ttl * 1000 + ahead : untimedMs));
    if (now - memory.since > memory.windowMs || memory.newer.size >= mostDigests) {
      memory.older = memory.newer;
      memory.newer = new DigestSet();
      memory.since = now;
    }
    return memory;
  }

  /** Minions that have long been silent use no memory. */
  #sweep(now: number): void {
    this.#sweptAt = now;
    for (const [id, memory] of this.#minions) {
      if (now - memory.since > 2 * memory.windowMs) this.#minions.delete(id);
    }
  }
}

/**
 * An encrypted load ends with an authentication code over all of it: without the key, nobody can create another one for
 * the same content.
 */
function digestOf(sealed: Uint8Array): Buffer {
  return Buffer.from(sealed.buffer, sealed.byteOffset + sealed.length - digestBytes, digestBytes);
}

const noteOf = ({ newer, older }: Memory, digest: Uint8Array): number | undefined =>
  newer.get(digest) ?? older?.get(digest);

function remember(memory: Memory, key: string, answer: Answer | Promise<Answer>): void {
  memory.answers ??= new Map();
  memory.answers.set(key, answer);
}

/** Most minions are silent most of the time: an empty map of each would be a fifth of what it costs. */
function forget(memory: Memory, key: string): void {
  memory.answers?.delete(key);
  if (memory.answers?.size === 0) memory.answers = undefined;
}

/** For plain answers the mark is enough; of others the last few are kept. */
function settle(memory: Memory, digest: Buffer, key: string, value: Answer): void {
  const note = plain.indexOf(value);
  memory.newer.set(digest, note < 0 ? notPlain : note);
  if (note >= 0) forget(memory, key);
  else {
    memory.kept ??= [];
    if (memory.kept.push(key) > mostAnswers) forget(memory, memory.kept.shift() as string);
  }
}
