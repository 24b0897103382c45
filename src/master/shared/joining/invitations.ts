// Invitations: this master lets machines into the cluster. Any live member answers a machine that has a valid one.
import { sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { intField, numberField, textField } from '../../../base/codec/fields.ts';
import { asPlainDict, newDict, type PlainDict, type Value } from '../../../base/codec/value.ts';
import { fingerprint } from '../../../base/crypto/index.ts';
import { HaliteError, messageOf } from '../../../base/errors/index.ts';
import type { Logger } from '../../../base/log/index.ts';
import type { Bucket, Cluster, Entry } from '../../../engine/cluster/api.ts';
import { busKeyFile } from '../../../engine/cluster/bus-keys.ts';
import { type Invitation, invitationLine, newSecret, verifierOf } from '../../../engine/cluster/joining/invitation.ts';
import {
  handoverBytes,
  type JoinRequest,
  readRequest,
  refusalBytes,
  signedText,
} from '../../../engine/cluster/joining/messages.ts';
import type { ClusterOptions } from '../../../engine/cluster/options.ts';
import { reserveSlot } from '../../../engine/cluster/slots.ts';
import type { EventBus } from '../../../protocol/event/bus.ts';
import type { KeyRing, MasterKeyPair } from '../../sign-in/master-keys.ts';
import { equalOptions } from '../drift-options.ts';

export interface InvitationParts {
  readonly cluster: Pick<Cluster, 'name' | 'self' | 'members' | 'registry' | 'signals'>;
  readonly options: ClusterOptions;
  readonly opts: {
    readonly pki_dir: string;
    readonly master_sign_key_name: string;
    readonly master_pubkey_signature: string;
    readonly raw: PlainDict;
  };
  /** The RSA pair of the masters; it can change while this runs. */
  readonly ring: Pick<KeyRing, 'current'>;
  readonly bus: Pick<EventBus, 'fire'>;
  readonly log: Pick<Logger, 'info' | 'warn' | 'limited'>;
}

/** As it is stored: the secret itself is not. */
interface Stored {
  readonly verifier: string;
  readonly until: number;
  readonly by: string;
  /** The key of the machine that used it. */
  readonly used?: string;
  /** How often it was answered. */
  readonly answers: number;
}

const bucketKey = (id: string): string => `invite.${id}`;
const mostOpen = 100;
/** A machine that was killed while it joined may ask again; each time its keys are sealed for it anew. */
const mostAnswers = 50;
/** So long after its end a used one still says what became of it. */
const rememberedMs = 24 * 3_600_000;

export class Invitations {
  readonly #parts: InvitationParts;
  readonly #reg: Bucket<Value>;

  constructor(parts: InvitationParts) {
    this.#parts = parts;
    this.#reg = parts.cluster.registry.bucket('reg');
    parts.cluster.signals.onNewcomer((bytes) => this.answer(bytes));
  }

  async invite(minutes: number): Promise<string> {
    if (!(minutes >= 1 && minutes <= 1440))
      throw new HaliteError('call.arguments', 'An invitation is valid for 1 to 1440 minutes');
    const { options, ring, cluster, opts, log } = this.#parts;
    const { id, secret } = newSecret();
    const until = this.#now() + minutes * 60_000;
    const stored: Stored = { verifier: verifierOf(id, secret).toString('hex'), until, by: cluster.self.id, answers: 0 };
    await this.#clean();
    await this.#reg.create(bucketKey(id), storedValue(stored));
    log.info('a machine was invited to join the cluster', { invitation: id, minutes });
    const file = textField(opts.raw, 'conf_file');
    const invitation: Invitation = {
      ...{ cluster: options.name, servers: options.servers, insecure: options.insecure, id, secret, until },
      ...(options.tls.ca === undefined ? {} : { ca: readFileSync(options.tls.ca, 'utf8') }),
      ...(options.login ? { login: options.login } : {}),
      fingerprint: fingerprint(ring.current.pem),
      ssh: `ssh://${hostname()}${file === undefined ? '' : dirname(file)}`,
    };
    return invitationLine(invitation);
  }

  /** By the clock of the nats-servers, which all members know. */
  #now(): number {
    return Date.now() - this.#parts.cluster.self.skewMs;
  }

  /** Removes old ones; refuses when somebody makes too many. */
  async #clean(): Promise<void> {
    const found = await everything(this.#reg, 'invite.');
    let open = 0;
    for (const { key, value, revision } of found) {
      const stored = readStored(value);
      if (stored && stored.until + rememberedMs > this.#now()) open += 1;
      else await this.#reg.remove(key, revision).catch(() => undefined);
    }
    if (open < mostOpen) return;
    throw new HaliteError('cluster.refused', `${open} invitations were made within a day`, {
      hint: 'Wait, or use one of them.',
    });
  }

  /** What a machine that asks to join gets; undefined for what is no request. */
  async answer(bytes: Uint8Array): Promise<Uint8Array | undefined> {
    const received = readRequest(bytes);
    if (!received) return undefined;
    const { request } = received;
    const entry = await this.#reg.get(bucketKey(request.invitation));
    const stored = entry && readStored(entry.value);
    if (!entry || !stored) {
      return refusalBytes(
        request,
        undefined,
        'The cluster does not know this invitation: it is from another cluster, or too old.',
      );
    }
    const verifier = Buffer.from(stored.verifier, 'hex');
    if (!received.isProven(verifier)) {
      this.#parts.log.limited('join:forged', 'warn', 'a machine asked to join without the secret of its invitation', {
        invitation: request.invitation,
      });
      return refusalBytes(request, undefined, 'The secret of this invitation is not the right one.');
    }
    try {
      return await this.#letIn(request, entry, stored, verifier);
    } catch (error) {
      const hint = error instanceof HaliteError && error.hint ? ` ${error.hint}` : '';
      this.#parts.log.warn('a machine may not join the cluster', { member: request.member, why: messageOf(error) });
      return refusalBytes(request, verifier, `${messageOf(error)}.${hint}`);
    }
  }

  async #letIn(request: JoinRequest, entry: Entry<Value>, stored: Stored, verifier: Buffer): Promise<Uint8Array> {
    const { cluster, log, bus } = this.#parts;
    const key = Buffer.from(request.key).toString('hex');
    if (stored.used !== undefined && stored.used !== key) throw usedByAnother();
    // A machine that began in time may finish.
    const until = stored.used === undefined ? stored.until : stored.until + 3_600_000;
    if (this.#now() > until)
      throw refused('This invitation is too old', 'Make a new one on a member: salt-run cluster.invite');
    if (stored.answers >= mostAnswers)
      throw refused('This invitation was answered too often', 'Make a new one on a member: salt-run cluster.invite');
    const level = await this.#level();
    if (request.level < level) {
      throw refused(
        `The cluster works at level ${level}, Halite ${request.version} at ${request.level} at most`,
        `Install the version of the other masters there: ${cluster.self.version}.`,
      );
    }
    // Decided by the first write: of two machines with one line, one is let in.
    await this.#reg
      .update(entry.key, storedValue({ ...stored, used: key, answers: stored.answers + 1 }), entry.revision)
      .catch(async (error: unknown) => {
        const now = await this.#reg.get(entry.key);
        const used = now && readStored(now.value)?.used;
        if (used !== key) throw used === undefined ? error : usedByAnother();
      });
    const live = new Set(cluster.members().map(({ slot }) => slot));
    const slot = await reserveSlot(this.#reg, {
      id: request.member,
      key,
      now: this.#now(),
      isLive: (slot) => live.has(slot),
    });
    log.info('a machine joins the cluster', {
      member: request.member,
      slot,
      version: request.version,
      keys: request.wantsKeys,
    });
    bus.fire(
      'halite/cluster/joining',
      newDict([
        ['id', request.member],
        ['slot', slot],
        ['by', cluster.self.id],
      ]),
    );
    return this.#handover(request, verifier, slot);
  }

  async #level(): Promise<number> {
    const value = (await this.#reg.get('level'))?.value;
    return typeof value === 'number' ? value : 1;
  }

  #handover(request: JoinRequest, verifier: Buffer, slot: number): Uint8Array {
    const { cluster, opts, options } = this.#parts;
    const pair = this.#parts.ring.current;
    const { raw } = opts;
    return handoverBytes(request, verifier, {
      ...{ member: cluster.self.id, slot, masterKey: pair.pem },
      files: request.wantsKeys ? keyFilesOf(opts, pair) : new Map(),
      signature: sign('sha256', Buffer.from(signedText(request)), pair.privateKey),
      busKeys: readFileSync(join(opts.pki_dir, busKeyFile), 'utf8'),
      options: newDict(
        equalOptions.filter((name) => raw[name] !== undefined).map((name) => [name, raw[name] as Value]),
      ),
      cluster: sharedOptions(options),
      members: cluster.members().map(({ id }) => id),
    });
  }
}

/** The options below `cluster:` that all members have. */
function sharedOptions(options: ClusterOptions): PlainDict {
  const { name, ack, ackWaitMs, replicas, logMb, managed } = options;
  return newDict([
    ...([
      ['name', name],
      ['ack', ack],
      ['ack_wait', ackWaitMs / 1000],
    ] as [string, Value][]),
    ...([
      ['replicas', replicas],
      ['log_mb', logMb],
    ] as [string, Value][]),
    ['nats', managed ? 'managed' : 'external'],
  ]);
}

function keyFilesOf({ pki_dir, ...opts }: InvitationParts['opts'], pair: MasterKeyPair): Map<string, string> {
  const sign = opts.master_sign_key_name;
  const files: [string, string][] = [
    ['master.pem', pair.file],
    ['master.pub', `${pair.file.slice(0, -'.pem'.length)}.pub`],
    ...['pem', 'pub'].map((end): [string, string] => [`${sign}.${end}`, join(pki_dir, `${sign}.${end}`)]),
    [opts.master_pubkey_signature, join(pki_dir, opts.master_pubkey_signature)],
  ];
  const texts = new Map<string, string>();
  for (const [name, file] of files) {
    try {
      texts.set(name, readFileSync(file, 'utf8'));
    } catch (error) {
      // Only the pair itself must be there.
      if (name.startsWith('master.p') || (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  return texts;
}

const refused = (what: string, hint: string): HaliteError => new HaliteError('cluster.refused', what, { hint });

const usedByAnother = (): HaliteError =>
  refused(
    'This invitation was used already, by another machine',
    'Each one lets in one machine: make another one with salt-run cluster.invite.',
  );

const storedValue = (stored: Stored): Value => newDict(Object.entries(stored));

function readStored(value: Value): Stored | undefined {
  const fields = asPlainDict(value);
  if (!fields) return undefined;
  const [verifier, by, used] = [textField(fields, 'verifier'), textField(fields, 'by'), textField(fields, 'used')];
  const until = numberField(fields, 'until');
  if (verifier === undefined || by === undefined || until === undefined) return undefined;
  return { verifier, by, until, answers: intField(fields, 'answers') ?? 0, ...(used === undefined ? {} : { used }) };
}

/** What is in a bucket below a prefix. */
function everything(bucket: Bucket<Value>, prefix: string, timeoutMs = 10_000): Promise<Entry<Value>[]> {
  const found = new Map<string, Entry<Value>>();
  const end = new AbortController();
  return new Promise<Entry<Value>[]>((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new HaliteError('cluster.cut-off', 'What the masters share cannot be read now')),
      timeoutMs,
    );
    const stop = (): void => {
      clearTimeout(timer);
      resolve([...found.values()]);
    };
    bucket.watch({
      on: (entry) => {
        if (!entry.key.startsWith(prefix)) return;
        if ('removed' in entry) found.delete(entry.key);
        else found.set(entry.key, entry);
      },
      synced: stop,
      signal: end.signal,
    });
  }).finally(() => end.abort());
}
