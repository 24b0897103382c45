// The change of the master's key in a cluster: each step is decided once, by whichever member was asked, and carried out
// by all. A switch happens at the same place in the order of publications; who was away does the step when it is back.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { textField } from '../../base/codec/fields.ts';
import { isDict, newDict, type Value } from '../../base/codec/value.ts';
import { fingerprint } from '../../base/crypto/index.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { Gate } from '../../base/util/gate.ts';
import { isValidMinionId } from '../../base/util/valid-id.ts';
import { withTimeout } from '../../base/util/with-timeout.ts';
import type { Cluster, Entry, Removed } from '../../engine/cluster/api.ts';
import type { Identity } from '../../engine/cluster/identity.ts';
import type { RolloverRecord } from '../rollover/record.ts';
import type { Rollover, RolloverStep } from '../rollover/rollover.ts';
import type { KeyRing } from '../sign-in/master-keys.ts';
import { Confirmations } from './confirmations.ts';
import { onLostData } from './lost-data.ts';
import {
  openKeys,
  purposeOf,
  readStep,
  type SharedStep,
  type StepKeys,
  sealKeys,
  stepKey,
  stepValue,
} from './rollover-step.ts';
import { isConflict, type RegBucket } from './secrets.ts';

export interface SharedRolloverParts {
  readonly cluster: Pick<
    Cluster,
    'name' | 'self' | 'members' | 'registry' | 'relay' | 'signals' | 'onChange' | 'leads'
  >;
  readonly identity: Identity | undefined;
  readonly ring: KeyRing;
  readonly rollover: Pick<Rollover, 'record' | 'apply' | 'minions'>;
  readonly pkiDir: string;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error' | 'limited'>;
}

/** How long the relay may take to deliver the place of a switch that is already recorded. */
const lateMs = 2_000;
const engineMs = 2_000;
/** A live member that has not said in this time that it did a step is named. */
const confirmMs = 15_000;
const readMs = 10_000;
const markName = 'rollover';
const nextFile = 'master_next.pem';

export class SharedRollover {
  readonly #parts: SharedRolloverParts;
  readonly #reg: RegBucket;
  readonly #stop = new AbortController();
  readonly #confirmations: Confirmations;
  readonly #heard = new Gate();
  readonly #done = new Gate();
  readonly #endings: (() => void)[];
  #latest: SharedStep | undefined;
  /** The number of the step that this member has done, and the folder with copies of what that replaced. */
  #doneNumber = 0;
  #backup: string | undefined;
  #late: NodeJS.Timeout | undefined;

  constructor(parts: SharedRolloverParts) {
    const { cluster, rollover } = parts;
    this.#parts = parts;
    this.#reg = cluster.registry.bucket<Value>('reg');
    this.#confirmations = new Confirmations(cluster, this.#reg, 'rollover-seen.');
    rollover.minions.onNews((news) => cluster.signals.send('trust', newDict(Object.entries(news))));
    this.#endings = [
      cluster.signals.on('trust', (body) => this.#heardOfMinion(body)),
      cluster.onChange(({ kind }) => {
        if (kind === 'joined' || kind === 'leader') this.#inBackground(() => this.#sealForNew());
      }),
      onLostData({ cluster, log: parts.log, restore: () => this.#restore() }),
    ];
    this.#reg.watch({ on: (entry) => this.#take(entry), signal: this.#stop.signal });
    this.#inBackground(() => this.#restore());
  }

  close(): void {
    this.#stop.abort();
    clearTimeout(this.#late);
    for (const end of this.#endings) end();
    this.#done.open();
  }

  /** Carries a step out on all members; the folder with copies of what it replaced here. */
  async share(step: RolloverStep): Promise<string | undefined> {
    const { rollover, log } = this.#parts;
    const entry = await this.#reg.get(stepKey);
    const before = readStep(entry?.value);
    if (entry && !before) throw unreadable();
    if (!isSame(before?.record, rollover.record)) throw overtaken();
    const number = (before?.number ?? 0) + 1;
    if (before) this.#refuseToLeaveBehind(before, step);
    const value = stepValue(await this.#sealed(number, step));
    const switches = step.record?.phase === 'switched';
    try {
      if (entry) await this.#reg.update(stepKey, value, entry.revision);
      else await this.#reg.create(stepKey, value);
    } catch (error) {
      if (isConflict(error)) throw overtaken();
      throw error;
    }
    if (switches) {
      // Without an answer each member does it a little later by itself.
      const mark = { kind: 'mark', what: markName, data: number } as const;
      await this.#parts.cluster.relay.publish(`${markName}-${number}`, mark, engineMs).catch(() => undefined);
    }
    await this.#until(() => this.#doneNumber >= number, this.#done, readMs);
    if (this.#doneNumber < number) throw notDone(number);
    await this.#confirmations.all(number, confirmMs, this.#stop.signal);
    const lacking = this.#confirmations.lacking(number).map(({ id }) => id);
    if (lacking.length > 0)
      log.warn('masters that have not done this step of the change of the key do it later', {
        masters: lacking.join(', '),
      });
    return this.#backup;
  }

  /** Called at the place of a switch, before the next publication is sent. */
  async at(what: string, number: Value): Promise<void> {
    if (what !== markName || typeof number !== 'number') return;
    await this.#until(() => (this.#latest?.number ?? 0) >= number, this.#heard, lateMs);
    for (const until = performance.now() + readMs; (this.#latest?.number ?? 0) < number; await sleep(200)) {
      if (performance.now() > until || this.#stop.signal.aborted) return;
      const entry = await this.#reg.get(stepKey).catch(() => undefined);
      if (entry) this.#hear(readStep(entry.value));
    }
    this.#do();
  }

  /** Before a switch all live members have the next key: nobody would be left without one that it can present. */
  #refuseToLeaveBehind(before: SharedStep, { record }: RolloverStep): void {
    if (before.record?.phase !== 'announced' || record?.phase !== 'switched' || record.statement === '') return;
    const lacking = this.#confirmations.lacking(before.number).map(({ id }) => id);
    if (lacking.length > 0)
      throw new HaliteError('cluster.refused', `These masters do not have the next key yet: ${lacking.join(', ')}`, {
        hint: 'Their logs say why. A master that is stopped does not count: it takes the key when it starts.',
      });
  }

  async #sealed(number: number, { record, key }: RolloverStep): Promise<SharedStep> {
    const { ring, cluster, pkiDir } = this.#parts;
    const current = readFileSync(ring.current.file, 'utf8');
    const ours = fingerprint(ring.current.pem);
    const keys = (): StepKeys => {
      if (!record) return { presented: current };
      if (record.phase === 'announced')
        return { presented: current, other: key ?? readFileSync(join(pkiDir, nextFile), 'utf8') };
      const presented = key ?? current;
      return record.statement === '' ? { presented } : { presented, other: current };
    };
    const presented = record?.phase === 'switched' ? record.to : ours;
    return { number, record, presented, sealed: await sealKeys(purposeOf(cluster.name), this.#reg, keys()) };
  }

  #take(entry: Entry<Value> | Removed): void {
    if ('removed' in entry || this.#confirmations.heard(entry)) return;
    if (entry.key === stepKey) this.#hear(readStep(entry.value));
  }

  #hear(step: SharedStep | undefined): void {
    const { log, ring } = this.#parts;
    if (!step) log.limited('rollover-step', 'error', unreadable().message, {});
    if (!step || step.number < (this.#latest?.number ?? 0)) return;
    this.#latest = step;
    this.#heard.open();
    if (step.presented === fingerprint(ring.current.pem)) this.#do();
    // Its place comes at once, or has passed while this member was away.
    else this.#doLater();
  }

  #do(): void {
    const { log, cluster, identity, ring, rollover } = this.#parts;
    const step = this.#latest;
    if (!step || this.#stop.signal.aborted) return;
    clearTimeout(this.#late);
    try {
      const keys = openKeys(purposeOf(cluster.name), step.sealed.get(cluster.self.slot), identity);
      const backup = doStep(rollover, ring, step, keys);
      if (this.#doneNumber < step.number) this.#backup = backup;
      this.#doneNumber = step.number;
    } catch (error) {
      const text = 'a step of the change of the master key could not be done here; it is tried again';
      log.limited('rollover', 'error', text, { error: messageOf(error) });
      this.#doLater();
      return;
    }
    this.#done.open();
    this.#inBackground(() => this.#confirmations.give(step.number));
  }

  #doLater(): void {
    clearTimeout(this.#late);
    this.#late = setTimeout(() => this.#do(), lateMs).unref();
  }

  /** A master that joined during the change has no keys of it yet. */
  async #sealForNew(): Promise<void> {
    const entry = await this.#reg.get(stepKey);
    const step = readStep(entry?.value);
    if (!entry || !step?.record || !this.#parts.cluster.leads() || step.number !== this.#doneNumber) return;
    const sealed = await this.#sealNow(step.record);
    if ([...sealed.keys()].every((slot) => step.sealed.has(slot))) return;
    await this.#reg.update(stepKey, stepValue({ ...step, sealed }), entry.revision);
  }

  /** The engine has nothing about a change that this member knows: it lost it, or the change is older than the cluster. */
  async #restore(): Promise<void> {
    const { rollover, ring } = this.#parts;
    const { record } = rollover;
    if (!record || (await this.#reg.get(stepKey))) return;
    const sealed = await this.#sealNow(record);
    const step = { number: Math.max(1, this.#doneNumber), record, presented: fingerprint(ring.current.pem), sealed };
    await this.#reg.create(stepKey, stepValue(step));
  }

  #sealNow({ phase }: RolloverRecord): Promise<Map<number, Uint8Array>> {
    const { cluster, ring, pkiDir } = this.#parts;
    const other = phase === 'announced' ? join(pkiDir, nextFile) : ring.former?.file;
    return sealKeys(purposeOf(cluster.name), this.#reg, {
      presented: readFileSync(ring.current.file, 'utf8'),
      ...(other === undefined ? {} : { other: readFileSync(other, 'utf8') }),
    });
  }

  /** What a minion told another master, or was answered by it. */
  #heardOfMinion(body: Value): void {
    if (!isDict(body)) return;
    const [id, trusts] = [textField(body, 'id'), textField(body, 'trusts')];
    if (id === undefined || !isValidMinionId(id) || trusts === undefined || !this.#parts.rollover.record) return;
    const [host, presented, next] = [textField(body, 'host'), textField(body, 'presented'), textField(body, 'next')];
    const { minions } = this.#parts.rollover;
    if (host !== undefined && presented !== undefined) minions.signedIn(id, { host, trusts, presented }, 'elsewhere');
    if (next !== undefined) minions.told(id, { trusts, next }, 'elsewhere');
  }

  async #until(isSo: () => boolean, gate: Gate, timeoutMs: number): Promise<void> {
    const until = performance.now() + timeoutMs;
    while (!isSo() && performance.now() < until && !this.#stop.signal.aborted)
      await withTimeout(gate.wait(), 250, () => undefined);
  }

  #inBackground(act: () => Promise<void>): void {
    act().catch((error: unknown) => {
      if (isConflict(error) || this.#stop.signal.aborted) return;
      const text = 'the change of the master key could not be told to the other masters';
      this.#parts.log.limited('rollover-told', 'warn', text, { error: messageOf(error) });
    });
  }
}

/** Brings the keys of a member to a step of the cluster, from wherever they are; the folder with copies, if it made any. */
function doStep(
  rollover: Pick<Rollover, 'record' | 'apply'>,
  ring: KeyRing,
  { record, presented }: SharedStep,
  keys: StepKeys | undefined,
): string | undefined {
  const ours = fingerprint(ring.current.pem);
  const isNext = record?.phase === 'switched' && record.from === ours;
  // It was away while the key changed, and the way there is over.
  const straight = ours === presented || isNext ? undefined : straightTo(ours, presented);
  const backup = straight && rollover.apply({ record: straight, ...(keys ? { key: keys.presented } : {}) });
  const key = record?.phase === 'announced' ? keys?.other : keys?.presented;
  const former = record?.phase === 'switched' ? keys?.other : undefined;
  const after = rollover.apply({
    record,
    ...(key === undefined ? {} : { key }),
    ...(former === undefined ? {} : { former }),
  });
  return backup ?? after;
}

const straightTo = (from: string, to: string): RolloverRecord => ({
  ...{ phase: 'switched', from, to, statement: '', announced: 0, at: 0, graceMs: 0, switched: Date.now(), until: 0 },
});

/** Before a member presents any key at its start: it does what the others did while it was away. */
export async function catchUp(
  parts: Pick<SharedRolloverParts, 'cluster' | 'identity' | 'ring' | 'rollover' | 'log'>,
): Promise<void> {
  const { cluster, identity, ring, rollover, log } = parts;
  try {
    const entry = await cluster.registry.bucket<Value>('reg').get(stepKey);
    const step = entry && readStep(entry.value);
    if (!step) return;
    const keys = openKeys(purposeOf(cluster.name), step.sealed.get(cluster.self.slot), identity);
    const isMissing = !keys && (step.presented !== fingerprint(ring.current.pem) || step.record?.phase === 'announced');
    if (!isMissing) doStep(rollover, ring, step, keys);
  } catch (error) {
    if (!(error instanceof HaliteError && error.code === 'cluster.cut-off')) throw error;
    log.limited('rollover', 'warn', 'whether the masters have a new key is not known yet', { error: messageOf(error) });
  }
}

const isSame = (one: RolloverRecord | undefined, other: RolloverRecord | undefined): boolean =>
  one?.phase === other?.phase && one?.to === other?.to;

const unreadable = (): HaliteError =>
  new HaliteError('cluster.refused', 'The record of the change of the master key cannot be read', {
    hint: 'Use the version of Halite that the other masters have.',
  });
const overtaken = (): HaliteError =>
  new HaliteError('cluster.conflict', 'Another master has just done a step of the change of the key', {
    hint: 'See how it stands: salt-run master.rotate_keys status=True',
  });
const notDone = (number: number): HaliteError =>
  new HaliteError('cluster.refused', `Step ${number} of the change of the key is decided, but not done here yet`, {
    hint: 'The log of this master says why; it goes on by itself.',
  });
