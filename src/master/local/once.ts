// A request that is sent twice with the same key starts one job: the id of the job is stored before the job is
// published, so that this holds over a kill of any of the processes.
import { createHash } from 'node:crypto';
import { textField } from '../../base/codec/fields.ts';
import { dumpJson } from '../../base/codec/json/index.ts';
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { generateJid } from '../../base/util/jid.ts';
import type { JobStore } from '../../store/jobs.ts';
import type { Caller } from '../authorization/authorization.ts';
import type { Tracker } from '../tracking/tracker.ts';
import { type Audit, keyOf } from './audit.ts';

export interface OnceParts {
  readonly audit: Pick<Audit, 'earlier' | 'note'>;
  readonly store: Pick<JobStore, 'load' | 'expected'>;
  readonly tracker: Pick<Tracker, 'job'>;
  accepted(id: string): boolean;
}

const rememberMs = 24 * 3600 * 1000;
const longestKey = 128;
const identity = new Set(['token', 'eauth', 'username', 'password', 'user', 'key', 'from', 'agent', 'request', 'once']);

/** What the key stands for: the request without who sends it. */
const digestOf = (args: PlainDict): string =>
  createHash('sha256')
    .update(
      dumpJson(
        newDict(
          Object.entries(args)
            .filter(([name]) => !identity.has(name))
            .sort(([a], [b]) => (a < b ? -1 : 1)),
        ),
      ),
    )
    .digest('base64url');

export class Once {
  readonly #parts: OnceParts;
  readonly #underWay = new Map<string, Promise<void>>();

  constructor(parts: OnceParts) {
    this.#parts = parts;
  }

  /** `publish` sends the job with this id, and returns the item that describes it. */
  async run(
    caller: Caller,
    args: PlainDict,
    facts: { readonly fun: string; readonly target: string },
    publish: (jid: string) => Promise<Value>,
  ): Promise<Value> {
    const given = textField(args, 'once') ?? '';
    if (given.length > longestKey)
      throw new HaliteError('call.arguments', `The key has more than ${longestKey} characters.`);
    const key = keyOf(caller, given);
    // The same request again, while the first one is under way: one after the other.
    const before = this.#underWay.get(key) ?? Promise.resolve();
    const done = before.then(() => this.#one(caller, given, digestOf(args), args, facts, publish));
    const settled = done.then(
      () => undefined,
      () => undefined,
    );
    this.#underWay.set(key, settled);
    try {
      return await done;
    } finally {
      if (this.#underWay.get(key) === settled) this.#underWay.delete(key);
    }
  }

  async #one(
    caller: Caller,
    given: string,
    digest: string,
    args: PlainDict,
    facts: { readonly fun: string; readonly target: string },
    publish: (jid: string) => Promise<Value>,
  ): Promise<Value> {
    const { audit } = this.#parts;
    const earlier = await audit.earlier(caller, given, Date.now() - rememberMs);
    if (earlier && earlier.digest !== digest)
      throw new HaliteError('call.failed', 'This Idempotency-Key was used for another request.', {
        hint: 'Choose a new key for each request; send an old one only with the same body.',
      });
    if (earlier) return (await this.#started(earlier.jid)) ?? publish(earlier.jid);
    const jid = generateJid({ unique: true });
    await audit.note(caller, args, { what: 'job', ...facts, jid, key: keyOf(caller, given), digest });
    return publish(jid);
  }

  /** Undefined when the master ended before the job was published. */
  async #started(jid: string): Promise<Value | undefined> {
    const { store, tracker, accepted } = this.#parts;
    const known = tracker.job(jid) !== undefined || (await store.load(jid)) !== undefined;
    if (!known) return undefined;
    const ids = await store.expected(jid);
    return newDict([
      ['type', 'job'],
      ['jid', jid],
      ['minions', ids.filter((id) => accepted(id))],
      ['missing', ids.filter((id) => !accepted(id))],
    ]);
  }
}
