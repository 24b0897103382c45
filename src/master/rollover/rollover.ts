// A new key for the master while its minions go on: announced, switched, and at last the key before is deleted. Each step
// is one record on disk first and files after that; what a kill interrupts, the next start completes.
import { readFileSync } from 'node:fs';
import type { MasterOpts } from '../../base/config/index.ts';
import { fingerprint } from '../../base/crypto/index.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { signNextKey } from '../../protocol/wire/messages/next-key.ts';
import type { KeyRing, MasterKeyPair } from '../sign-in/master-keys.ts';
import { KeyFiles } from './key-files.ts';
import { hostOf, MinionKeys } from './minion-keys.ts';
import { loadRecord, type RolloverRecord, storeRecord } from './record.ts';

export interface RolloverParts {
  readonly opts: Pick<MasterOpts, 'pki_dir' | 'cachedir' | 'keysize' | 'key_pass'>;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error' | 'limited'>;
  readonly ring: KeyRing;
  /** After the keys changed: a new AES key, so that every minion signs in again at its next message. */
  changed(): Promise<void>;
  /** With other masters, which present the same key: carries a step out on all of them, this one included. */
  readonly share?: (step: RolloverStep) => Promise<string | undefined>;
}

/** How it stands after a step. `key`, `former`: the private keys `to` and `from` of the record, as in their files. */
export interface RolloverStep {
  readonly record: RolloverRecord | undefined;
  readonly key?: string;
  readonly former?: string;
}

export interface AnnounceOptions {
  /** As in the record. */
  readonly at: number;
  readonly graceMs: number;
}

const dayMs = 86_400_000;
/** A statement may be older than the switch by so much: the next key can be announced long before. */
const announcedMs = 400 * dayMs;

/** Completes what a killed master left half-done, before any key is used. */
export function recoverKeys(
  opts: RolloverParts['opts'],
  pair: MasterKeyPair,
): { current: MasterKeyPair; former?: MasterKeyPair | undefined } {
  const record = loadRecord(opts.pki_dir);
  if (record?.phase !== 'switched') return { current: pair };
  const files = new KeyFiles(opts);
  const switched = files.switchOver(record, pair.file);
  if (record.statement === '') files.dropOld();
  // It was being ended.
  else if (!switched.former) storeRecord(opts.pki_dir, undefined);
  return record.statement === '' ? { current: switched.current } : switched;
}

export class Rollover {
  readonly #parts: RolloverParts;
  readonly #files: KeyFiles;
  readonly minions: MinionKeys;
  #record: RolloverRecord | undefined;

  constructor(parts: RolloverParts) {
    const { opts, log } = parts;
    this.#parts = parts;
    this.#files = new KeyFiles(opts);
    this.#record = loadRecord(opts.pki_dir);
    this.minions = new MinionKeys(opts.pki_dir, (error) =>
      log.limited('rollover', 'error', 'which minions have the next key could not be stored', { error: String(error) }),
    );
  }

  get record(): RolloverRecord | undefined {
    return this.#record;
  }

  /** What Halite minions are told; empty while there is nothing to tell. */
  get statement(): string {
    return this.#record?.statement ?? '';
  }

  /** The key with which this minion is answered: the one that it was given at its last sign-in. */
  keyFor(id: string, peer: string): MasterKeyPair {
    const { current, former } = this.#parts.ring;
    return former && this.minions.presented(id, hostOf(peer)) !== fingerprint(current.pem) ? former : current;
  }

  /** Makes the next key and tells it; again: only the time of the switch changes. */
  async announce({ at, graceMs }: AnnounceOptions): Promise<string | undefined> {
    const { opts, ring, log } = this.#parts;
    const known = this.#record;
    if (known?.phase === 'switched')
      throw wrongPhase('The key has been switched already', 'end it first: salt-run master.rotate_keys end=True');
    if (known) {
      await this.#take({ record: { ...known, at, graceMs } });
      return undefined;
    }
    const backup = this.#files.backup(ring.current.file);
    const next = await this.#files.makeNext();
    const now = Date.now();
    const from = fingerprint(ring.current.pem);
    const notAfter = Math.max(now, at) + graceMs + announcedMs;
    const { text } = signNextKey(ring.current.privateKey, {
      from,
      pem: next.pem,
      number: now,
      notBefore: now,
      notAfter,
    });
    const to = fingerprint(next.pem);
    const record = { from, to, statement: text, announced: now, at, graceMs, switched: 0, until: 0 };
    await this.#take({ record: { phase: 'announced', ...record }, key: textOf(next) });
    log.info('the next key of this master is announced', { fingerprint: to, keysize: opts.keysize });
    return backup;
  }

  /** Before the switch: nothing has happened. */
  async abort(): Promise<void> {
    if (this.#record?.phase !== 'announced')
      throw wrongPhase(
        'There is nothing to abort',
        'After the switch the way back is: salt-run master.rotate_keys back=True',
      );
    await this.#take({ record: undefined });
    this.#parts.log.info('the announced key of this master is withdrawn');
  }

  /** The next key is presented from now on. */
  async switchOver(): Promise<string> {
    const record = this.#record;
    if (record?.phase !== 'announced')
      throw wrongPhase('No next key is announced', 'Begin with: salt-run master.rotate_keys');
    const next = this.#files.pair('master_next');
    if (!next)
      throw wrongPhase(
        'The announced key master_next.pem is not there',
        'Withdraw it: salt-run master.rotate_keys abort=True',
      );
    return this.#change(next, record);
  }

  /** The way back during the grace: the key before is the next one. */
  async back(): Promise<string> {
    const record = this.#record;
    const { former } = this.#parts.ring;
    if (record?.phase !== 'switched' || !former)
      throw wrongPhase('There is no way back', 'It exists from the switch until the end of the grace.');
    return this.#change(former, record);
  }

  /** The present key is known to others: nothing that it says counts, and it serves nobody any more. */
  async compromised(): Promise<string> {
    const { ring, opts, log } = this.#parts;
    if (this.#record?.phase === 'switched')
      throw wrongPhase('The key has been switched already', 'End that first: salt-run master.rotate_keys end=True');
    const backup = this.#files.backup(ring.current.file);
    const next = await this.#files.makeNext();
    const [from, to, now] = [fingerprint(ring.current.pem), fingerprint(next.pem), Date.now()];
    const times = { announced: now, at: 0, graceMs: 0, switched: now, until: 0 };
    const record = { phase: 'switched' as const, from, to, statement: '', ...times };
    await this.#take({ record, key: textOf(next) });
    log.warn('this master has a new key because the one before is not to be trusted', {
      fingerprint: to,
      folder: opts.pki_dir,
    });
    await this.#parts.changed();
    return backup;
  }

  /** The key before is deleted. */
  async end(): Promise<void> {
    const { ring, log } = this.#parts;
    if (this.#record?.phase !== 'switched')
      throw wrongPhase('There is nothing to end', 'The key has not been switched.');
    await this.#take({ record: undefined });
    log.info('the change of the master key is complete', { fingerprint: fingerprint(ring.current.pem) });
  }

  async #change(next: MasterKeyPair, { announced, graceMs }: RolloverRecord): Promise<string> {
    const { ring, log } = this.#parts;
    const { current } = ring;
    const now = Date.now();
    const until = now + graceMs;
    const [from, to] = [fingerprint(current.pem), fingerprint(next.pem)];
    const dates = { number: now, notBefore: now, notAfter: until };
    const { text: statement } = signNextKey(current.privateKey, { from, pem: next.pem, ...dates });
    const record = { phase: 'switched' as const, from, to, statement, announced, at: 0, graceMs, switched: now, until };
    const backup = await this.#take({ record, key: textOf(next) });
    log.info('this master presents its new key', {
      fingerprint: to,
      before: from,
      until: new Date(until).toISOString(),
    });
    await this.#parts.changed();
    return backup ?? '';
  }

  async #take(step: RolloverStep): Promise<string | undefined> {
    const { share } = this.#parts;
    return share ? share(step) : this.apply(step);
  }

  /** Does on this master what a step says; again: nothing. Returns the folder with copies of what it replaced. */
  apply({ record, key, former: old }: RolloverStep): string | undefined {
    const { ring } = this.#parts;
    const before = this.#record;
    if (!record) {
      if (before) this.#forget(before);
      return undefined;
    }
    const isSwitched = record.phase === 'switched';
    const replaces = isSwitched && fingerprint(ring.current.pem) !== record.to;
    const backup = replaces ? this.#files.backup(ring.current.file) : undefined;
    if (!before) this.minions.clear();
    if (fingerprint(ring.current.pem) !== record.to) this.#files.placeNext(record.to, key);
    this.#store(record);
    if (!isSwitched) return backup;
    const isTrusted = record.statement !== '';
    if (isTrusted && old !== undefined && !replaces) this.#files.placeOld(record.from, old);
    const { current, former } = this.#files.switchOver(record, ring.current.file);
    if (!isTrusted) this.#files.dropOld();
    ring.use(current, isTrusted ? former : undefined);
    return backup;
  }

  #forget(before: RolloverRecord): void {
    const { ring } = this.#parts;
    if (before.phase === 'switched') this.#files.dropOld();
    this.#store(undefined);
    this.#files.dropNext();
    ring.use(ring.current, undefined);
    this.minions.clear();
  }

  #store(record: RolloverRecord | undefined): void {
    storeRecord(this.#parts.opts.pki_dir, record);
    this.#record = record;
  }
}

const textOf = ({ file }: MasterKeyPair): string => readFileSync(file, 'utf8');
const wrongPhase = (text: string, hint: string): HaliteError => new HaliteError('call.failed', text, { hint });
