// A new key for what the masters of a cluster tell each other, while they work: all of them have it before one uses it, what
// is stored is sealed with it by the leader, and only then the old one opens nothing any more.
import { intField, numberField } from '../../base/codec/fields.ts';
import { asPlainDict, dictGet, newDict, type Value } from '../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { Gate } from '../../base/util/gate.ts';
import { withTimeout } from '../../base/util/with-timeout.ts';
import type { Cluster, Entry, Keyring, Removed } from '../../engine/cluster/api.ts';
import type { ClusterRekey, RekeyOptions } from '../../extend/sdk/index.ts';
import { Confirmations } from './confirmations.ts';
import { isConflict, type RegBucket } from './secrets.ts';

export interface RekeyParts {
  readonly cluster: Pick<Cluster, 'self' | 'state' | 'members' | 'registry' | 'leads'>;
  readonly keyring: Keyring;
  readonly log: Pick<Logger, 'info' | 'warn' | 'limited'>;
  /** How often the leader looks whether there is something to do; for tests. */
  readonly lookMs?: number;
  /** How long a live member may take to say that it has or uses a key; for tests. */
  readonly confirmMs?: number;
}

interface Change {
  readonly number: number;
  /** By the clock of the nats-servers: when it was made, and from when on the old key opens nothing. */
  readonly at: number;
  readonly until: number;
  readonly done: boolean;
}

const changeKey = 'bus';
const offerPrefix = 'bus.';
const lookMs = 2_000;
const confirmMs = 15_000;
/** How long the command waits for the end when the old key shall end at once. */
const endMs = 60_000;
const mostMinutes = 1440;

export class Rekey {
  readonly #parts: RekeyParts;
  readonly #reg: RegBucket;
  readonly #stop = new AbortController();
  readonly #have: Confirmations;
  readonly #use: Confirmations;
  readonly #heard = new Gate();
  #change: Change | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** The number up to which this member, leading, has sealed everything. */
  #sealed = 0;
  #busy = false;

  constructor(parts: RekeyParts) {
    const { cluster } = parts;
    this.#parts = parts;
    this.#reg = cluster.registry.bucket<Value>('reg');
    this.#have = new Confirmations(cluster, this.#reg, 'bus-have.');
    this.#use = new Confirmations(cluster, this.#reg, 'bus-use.');
    this.#reg.watch({ on: (entry) => this.#take(entry), signal: this.#stop.signal });
    this.#timer = setInterval(() => void this.#look(), parts.lookMs ?? lookMs).unref();
  }

  close(): void {
    this.#stop.abort();
    clearInterval(this.#timer);
    this.#heard.open();
  }

  /** The change that is not over, as far as this member knows. */
  get underWay(): ClusterRekey | undefined {
    const change = this.#change;
    if (!change || change.done) return undefined;
    const { number, at, until } = change;
    const here = (time: number): Date => new Date(time + this.#parts.cluster.self.skewMs);
    return { number, since: here(at), until: here(until), lacking: this.#use.lacking(number).map(({ id }) => id) };
  }

  async rekey({ minutes, dryRun }: RekeyOptions): Promise<string> {
    if (!(minutes >= 0 && minutes <= mostMinutes))
      throw new HaliteError('call.arguments', `minutes=${minutes} is not between 0 and ${mostMinutes}`);
    const { cluster, keyring, log } = this.#parts;
    if (cluster.state.kind !== 'joined')
      throw new HaliteError('cluster.cut-off', 'This master is cut off: it cannot give the others a new key');
    await keyring.follow();
    const entry = await this.#reg.get(changeKey);
    const before = readChange(entry?.value);
    if (before && !before.done && entry) return this.#hasten(before, entry, { minutes, dryRun });
    const plan = await this.#plan(minutes);
    if (dryRun) return `Would do this: ${plan}\nNothing was changed: this is a dry run.`;
    const number = await keyring.make();
    await this.#have.all(number, this.#confirmMs, this.#stop.signal);
    const lacking = this.#have.lacking(number).map(({ id }) => id);
    if (lacking.length > 0) {
      throw new HaliteError('cluster.refused', `These masters have not taken the new key: ${lacking.join(', ')}`, {
        hint: 'Nothing was changed. Their logs say why; a version of Halite without cluster.rekey takes none. Then run this again.',
      });
    }
    const at = this.#now();
    const value = changeValue({ number, at, until: at + minutes * 60_000, done: false });
    try {
      if (entry) await this.#reg.update(changeKey, value, entry.revision);
      else await this.#reg.create(changeKey, value);
    } catch (error) {
      if (!isConflict(error)) throw error;
      throw new HaliteError('cluster.conflict', 'Another master has just changed the key of the cluster');
    }
    log.info('the key of the cluster was changed', { number });
    await this.#until(() => keyring.current >= number, this.#confirmMs);
    await this.#use.all(number, this.#confirmMs, this.#stop.signal);
    return this.#told(number, minutes);
  }

  /** One is under way: its end can be made earlier. */
  async #hasten(change: Change, entry: Entry<Value>, { minutes, dryRun }: RekeyOptions): Promise<string> {
    const { number } = change;
    const until = Math.min(change.until, this.#now() + minutes * 60_000);
    if (dryRun)
      return `The change to key ${number} is under way: the old key would open nothing from ${timeText(until)} on.\nNothing was changed: this is a dry run.`;
    if (until < change.until) await this.#reg.update(changeKey, changeValue({ ...change, until }), entry.revision);
    return this.#told(number, minutes);
  }

  async #plan(minutes: number): Promise<string> {
    const { cluster, keyring } = this.#parts;
    const live = new Set(cluster.members().map(({ slot }) => slot));
    const members = await keyring.members();
    const away = members.filter(({ slot }) => !live.has(slot)).map(({ id }) => id);
    const bare = members.filter(({ hasIdentity }) => !hasIdentity).map(({ id }) => id);
    return [
      `make the key ${Math.max(keyring.newest, keyring.current + 1)} of the cluster and seal it for ${members.map(({ id }) => id).join(', ')};`,
      'use it when all running masters have it; seal with it what is stored;',
      minutes === 0 ? 'end the old key then.' : `end the old key ${minutes} minutes later.`,
      ...(away.length > 0 ? [`\nNot running now, and take it when they start: ${away.join(', ')}.`] : []),
      ...(bare.length > 0 ? [`\nWithout an identity, so that it would be refused: ${bare.join(', ')}.`] : []),
    ].join(' ');
  }

  async #told(number: number, minutes: number): Promise<string> {
    if (minutes === 0) await this.#until(() => this.#change?.number === number && this.#change.done, endMs);
    const late = this.#use.lacking(number).map(({ id }) => id);
    const ended = this.#change?.number === number && this.#change.done;
    const until = this.#change?.until;
    return [
      `All masters have the key ${number} of the cluster`,
      late.length > 0 ? `, and use it, but for ${late.join(', ')}, which have not said so yet` : ' and use it',
      ended
        ? '. The old one opens nothing any more.'
        : `. The old one opens nothing from ${until === undefined ? 'its end' : timeText(until)} on, when everything that is stored is sealed with the new one.`,
    ].join('');
  }

  get #confirmMs(): number {
    return this.#parts.confirmMs ?? confirmMs;
  }

  #now(): number {
    return Date.now() - this.#parts.cluster.self.skewMs;
  }

  #take(entry: Entry<Value> | Removed): void {
    if ('removed' in entry || this.#have.heard(entry) || this.#use.heard(entry)) return;
    if (entry.key.startsWith(offerPrefix)) this.#inBackground(() => this.#offered(entry.key));
    if (entry.key !== changeKey) return;
    const change = readChange(entry.value);
    if (change && change.number >= (this.#change?.number ?? 0)) this.#inBackground(() => this.#follow(change));
  }

  async #offered(key: string): Promise<void> {
    const { keyring } = this.#parts;
    await keyring.follow();
    const number = Number(key.slice(offerPrefix.length));
    if (number === keyring.newest) await this.#have.give(number);
  }

  async #follow(change: Change): Promise<void> {
    const { keyring, log } = this.#parts;
    if (keyring.newest < change.number) await keyring.follow();
    if (keyring.newest < change.number) return;
    if (keyring.current < change.number) {
      keyring.use(change.number);
      log.info('the new key of the cluster is used', { number: change.number });
    }
    this.#change = change;
    this.#heard.open();
    await this.#use.give(change.number);
    if (!change.done) return;
    keyring.retire(change.number);
    log.info('older keys of the cluster open nothing any more', { number: change.number });
  }

  /** What the leader does, and the next one goes on with. */
  async #look(): Promise<void> {
    const { cluster, keyring, log } = this.#parts;
    const change = this.#change;
    if (!change || change.done || this.#busy || !cluster.leads() || keyring.current < change.number) return;
    const isWaiting = this.#use.lacking(change.number).length > 0 && this.#now() < change.at + this.#confirmMs;
    if (isWaiting) return;
    const isOver = this.#now() >= change.until;
    if (this.#sealed >= change.number && !isOver) return;
    this.#busy = true;
    try {
      const left = await keyring.reseal();
      if (left > 0) log.limited('rekey-left', 'warn', 'some of what is stored has still an older key', { left });
      else this.#sealed = change.number;
      if (!isOver || left > 0 || !cluster.leads()) return;
      const entry = await this.#reg.get(changeKey);
      const now = readChange(entry?.value);
      // The engine lost what it had meanwhile: what the members know counts.
      if (!entry) await this.#reg.create(changeKey, changeValue({ ...change, done: true }));
      else if (now?.number === change.number && !now.done)
        await this.#reg.update(changeKey, changeValue({ ...now, done: true }), entry.revision);
    } catch (error) {
      if (!isConflict(error) && !this.#stop.signal.aborted)
        log.limited('rekey', 'warn', 'what is stored is sealed with the new key later', { why: messageOf(error) });
    } finally {
      this.#busy = false;
    }
  }

  async #until(isSo: () => boolean, timeoutMs: number): Promise<void> {
    const until = performance.now() + timeoutMs;
    while (!isSo() && performance.now() < until && !this.#stop.signal.aborted)
      await withTimeout(this.#heard.wait(), 250, () => undefined);
  }

  #inBackground(act: () => Promise<void>): void {
    act().catch((error: unknown) => {
      if (isConflict(error) || this.#stop.signal.aborted) return;
      this.#parts.log.limited('rekey-told', 'warn', 'a change of the key of the cluster waits', {
        why: messageOf(error),
      });
    });
  }
}

function readChange(value: Value | undefined): Change | undefined {
  const fields = asPlainDict(value);
  if (!fields) return undefined;
  const [number, at, until] = [intField(fields, 'number'), numberField(fields, 'at'), numberField(fields, 'until')];
  if (number === undefined || number < 1 || at === undefined || until === undefined) return undefined;
  return { number, at, until, done: dictGet(fields, 'done') === true };
}

const changeValue = (change: Change): Value => newDict(Object.entries(change));
const timeText = (ms: number): string => `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
