// Which real Salt minions demand that the master signs its key, and the key that signs: the same on all members, so that a
// minion that was prepared on one of them is answered rightly by each.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dictField, textsField } from '../../base/codec/fields.ts';
import { isDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { cleanKey, fingerprint, parsePrivateKey, publicPem } from '../../base/crypto/index.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { replaceFileNow } from '../../base/util/replace-file.ts';
import { isValidMinionId } from '../../base/util/valid-id.ts';
import type { Cluster, Entry } from '../../engine/cluster/api.ts';
import type { Identity } from '../../engine/cluster/identity.ts';
import type { KeySignatures } from '../sign-in/key-signatures.ts';
import { onLostData } from './lost-data.ts';
import { openKeys, readSealed, sealedValue, sealKeys } from './rollover-step.ts';
import { isConflict, type RegBucket } from './secrets.ts';

export interface SharedSignatureParts {
  readonly cluster: Pick<Cluster, 'name' | 'self' | 'registry' | 'onChange' | 'leads'>;
  readonly identity: Identity | undefined;
  readonly signatures: Pick<KeySignatures, 'ids' | 'useIds' | 'publicKey'>;
  readonly opts: {
    readonly pki_dir: string;
    readonly master_sign_key_name: string;
    readonly signing_key_pass?: string | null;
  };
  readonly log: Pick<Logger, 'error' | 'limited'>;
}

interface SigningRecord {
  readonly ids: readonly string[];
  /** The private key that signs, by slot. */
  readonly sealed: ReadonlyMap<number, Uint8Array>;
}

const recordKey = 'signing';
const mostIds = 20_000;
const tries = 20;

export class SharedSignatures {
  readonly #parts: SharedSignatureParts;
  readonly #reg: RegBucket;
  readonly #stop = new AbortController();
  readonly #endings: (() => void)[];

  constructor(parts: SharedSignatureParts) {
    const { cluster, log } = parts;
    this.#parts = parts;
    this.#reg = cluster.registry.bucket<Value>('reg');
    this.#endings = [
      cluster.onChange(({ kind }) => {
        if (kind === 'joined' || kind === 'leader') this.#inBackground(() => this.#sealForNew());
      }),
      onLostData({ cluster, log, restore: () => this.#restore() }),
    ];
    const on = (entry: Entry<Value> | { key: string; removed: true }): void => {
      if (entry.key === recordKey && !('removed' in entry)) this.#use(readRecord(entry.value));
    };
    this.#reg.watch({ on, signal: this.#stop.signal });
    this.#inBackground(() => this.#restore());
  }

  close(): void {
    this.#stop.abort();
    for (const end of this.#endings) end();
  }

  /** The public key with which minions verify the signature, equal on all members from now on. */
  async publicKey(): Promise<string> {
    const record = readRecord((await this.#reg.get(recordKey))?.value);
    if (record) this.#use(record);
    else await this.#change((ids) => ids);
    return this.#parts.signatures.publicKey();
  }

  /** From now on all members sign for this minion, or none does. */
  demand(id: string, wanted: boolean): Promise<void> {
    return this.#change((ids) => (wanted ? [...new Set([...ids, id])] : ids.filter((other) => other !== id)));
  }

  /** Tried again when another member has changed it meanwhile. */
  async #change(act: (ids: readonly string[]) => readonly string[]): Promise<void> {
    for (let left = tries; ; left--) {
      const entry = await this.#reg.get(recordKey);
      const before = readRecord(entry?.value);
      if (entry && !before) throw unreadable();
      const ids = act(before?.ids ?? this.#parts.signatures.ids());
      if (ids.length > mostIds) throw tooMany();
      const sealed = before?.sealed ?? (await this.#seal());
      const value = recordValue({ ids, sealed });
      try {
        if (entry) await this.#reg.update(recordKey, value, entry.revision);
        else await this.#reg.create(recordKey, value);
        this.#use({ ids, sealed });
        return;
      } catch (error) {
        if (!isConflict(error) || left === 0) throw error;
      }
    }
  }

  async #seal(): Promise<Map<number, Uint8Array>> {
    const { signatures, cluster } = this.#parts;
    // Makes it when there is none.
    await signatures.publicKey();
    return sealKeys(purposeOf(cluster.name), this.#reg, { presented: readFileSync(this.#file(), 'utf8') });
  }

  #file(kind = 'pem'): string {
    const { pki_dir, master_sign_key_name: name } = this.#parts.opts;
    return join(pki_dir, `${name}.${kind}`);
  }

  #use(record: SigningRecord | undefined): void {
    const { signatures, log, cluster, identity } = this.#parts;
    try {
      if (!record) throw unreadable();
      const keys = openKeys(purposeOf(cluster.name), record.sealed.get(cluster.self.slot), identity);
      if (keys) this.#keep(keys.presented);
      signatures.useIds(record.ids);
    } catch (error) {
      log.limited('signing', 'error', 'for whom the masters sign their key could not be stored', {
        error: messageOf(error),
      });
    }
  }

  /** One that this member has had before is never replaced: minions verify with it. */
  #keep(text: string): void {
    const { opts, log } = this.#parts;
    const file = this.#file();
    if (!existsSync(file)) {
      const pem = cleanKey(publicPem(parsePrivateKey(text, opts.signing_key_pass ?? undefined)));
      replaceFileNow(this.#file('pub'), `${pem}\n`, 0o644);
      replaceFileNow(file, text, 0o400);
    } else if (readFileSync(file, 'utf8').trim() !== text.trim()) {
      log.limited('signing-key', 'error', 'this master signs its key with another key than the others', {
        ...{ file, fingerprint: fingerprint(readFileSync(this.#file('pub'), 'utf8')) },
        hint: 'Copy it, and its .pub, from another master, and restart this one.',
      });
    }
  }

  async #sealForNew(): Promise<void> {
    const entry = await this.#reg.get(recordKey);
    const record = readRecord(entry?.value);
    if (!entry || !record || !this.#parts.cluster.leads() || !existsSync(this.#file())) return;
    const sealed = await this.#seal();
    if ([...sealed.keys()].every((slot) => record.sealed.has(slot))) return;
    await this.#reg.update(recordKey, recordValue({ ...record, sealed }), entry.revision);
  }

  async #restore(): Promise<void> {
    const ids = this.#parts.signatures.ids();
    if (ids.length === 0 || (await this.#reg.get(recordKey))) return;
    await this.#reg.create(recordKey, recordValue({ ids, sealed: await this.#seal() }));
  }

  #inBackground(act: () => Promise<void>): void {
    act().catch((error: unknown) => {
      if (isConflict(error) || this.#stop.signal.aborted) return;
      const text = 'for whom the masters sign their key could not be told to the others';
      this.#parts.log.limited('signing-told', 'error', text, { error: messageOf(error) });
    });
  }
}

const purposeOf = (cluster: string | undefined): string => `signing ${cluster ?? ''}`;

function readRecord(value: Value | undefined): SigningRecord | undefined {
  if (!isDict(value)) return undefined;
  const ids = textsField(value, 'ids');
  const sealed = dictField(value, 'sealed');
  if (ids === undefined || typeof ids === 'string' || ids.length > mostIds || !sealed) return undefined;
  return { ids: ids.filter(isValidMinionId), sealed: readSealed(sealed) };
}

const recordValue = ({ ids, sealed }: SigningRecord): PlainDict =>
  newDict([
    ['ids', [...ids]],
    ['sealed', sealedValue(sealed)],
  ]);

const unreadable = (): HaliteError =>
  new HaliteError('cluster.refused', 'The record of the minions for which the masters sign their key cannot be read', {
    hint: 'Use the version of Halite that the other masters have.',
  });
const tooMany = (): HaliteError =>
  new HaliteError('call.failed', `More than ${mostIds} minions demand a signed key`, {
    hint: 'Set master_sign_pubkey: True instead: the masters then sign for all.',
  });
