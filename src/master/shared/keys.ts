// Keys of minions in a cluster: one decision for all members, in its registry. The folders stay Salt's: they show what
// was decided, and what an operator changes in them is a decision too.
import type { Value } from '../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { InOrder } from '../../base/util/in-order.ts';
import { listFirst } from '../../base/util/list-first.ts';
import { withTimeout } from '../../base/util/with-timeout.ts';
import type { Bucket, Cluster, Entry, Removed, Revision } from '../../engine/cluster/api.ts';
import type { KeyAct, KeyStore } from '../../store/keys.ts';
import { actOf, type Decision, decisionOf, shown } from './key-effects.ts';
import { agrees, backUpKeys, FolderWatch, filed, idsOf, inPortions, project } from './key-folders.ts';
import { isSame, type KeyRecord, keyValue, noRecord, readKeyRecord, tokenOf } from './key-records.ts';
import { onLostData } from './lost-data.ts';
import { QueuedDecisions } from './queued-keys.ts';
import { isConflict } from './secrets.ts';

export interface SharedKeyParts {
  readonly cluster: Pick<Cluster, 'self' | 'state' | 'registry' | 'onChange'>;
  /** The folders, without this in between. */
  readonly files: KeyStore;
  /** Names ids in the engine. */
  readonly index: Uint8Array;
  /** `cachedir/cluster`. */
  readonly folder: string;
  /** A new folder in `cachedir/backup`. */
  backup(): string;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error' | 'limited'>;
}

interface Known {
  readonly record: KeyRecord;
  readonly revision: Revision;
}

/** Of a record that the engine has lost: whatever is there now is newer. */
const lostRevision = -1;

const syncMs = 20_000;
const scanMs = 1_000;
const fullScanMs = 60_000;
/** After that time nobody remembers a deleted key; a backup is older than that only by intent. */
const tombstoneMs = 30 * 86_400_000;

export class SharedKeys {
  readonly #parts: SharedKeyParts;
  readonly #bucket: Bucket<Value>;
  readonly #known = new Map<string, Known>();
  readonly #ids = new Map<string, string>();
  readonly #order = new InOrder();
  readonly #queued: QueuedDecisions;
  readonly #watch: FolderWatch;
  readonly #stop = new AbortController();
  readonly #endChanges: () => void;
  readonly #endRestoring: () => void;
  #foreign: (act: KeyAct, id: string) => void = () => undefined;
  #synced = false;
  #timer: NodeJS.Timeout | undefined;
  /** Ids whose files differed at the start, and where their files are now. */
  #overruled: { readonly ids: readonly string[]; readonly folder: string } | undefined;

  constructor(parts: SharedKeyParts) {
    this.#parts = parts;
    this.#bucket = parts.cluster.registry.bucket<Value>('keys');
    this.#queued = new QueuedDecisions(parts.folder);
    this.#watch = new FolderWatch(parts.files);
    this.#endChanges = parts.cluster.onChange((change) => {
      if (change.kind === 'state' && change.state.kind === 'joined') void this.#heal();
      // Its numbers begin anew: with the old ones every entry would count as an old one.
      if (change.kind === 'engine-lost-data')
        for (const [id, { record }] of this.#known) this.#known.set(id, { record, revision: lostRevision });
    });
    this.#endRestoring = onLostData({ cluster: parts.cluster, log: parts.log, restore: () => this.#restore() });
  }

  /** What the engine lost is written again; the numbers of its revisions begin anew. */
  async #restore(): Promise<void> {
    if (!this.#synced) return;
    const ids = [...this.#known.keys()];
    await inPortions(ids, (id) => this.#order.run(id, () => this.#putBack(id)));
    const reg = this.#parts.cluster.registry.bucket<Value>('reg');
    if (!(await this.#imported())) await reg.create('keys', 1).catch(unlessConflict);
  }

  async #putBack(id: string): Promise<void> {
    const known = this.#known.get(id);
    if (!known) return;
    const token = tokenOf(this.#parts.index, id);
    if (!(await this.#takeTheirs(id, token))) {
      const revision = await this.#bucket.create(token, keyValue(known.record)).catch(unlessConflict);
      if (revision !== undefined) this.#known.set(id, { ...known, revision });
      // Another member puts it back at the same time: one of them is first.
      else await this.#takeTheirs(id, token);
    }
    await this.#show(this.#recordOf(id));
  }

  /** Takes over what the engine has now; false when it has nothing. */
  async #takeTheirs(id: string, token: string): Promise<boolean> {
    const entry = await this.#bucket.get(token);
    const record = readKeyRecord(entry?.value);
    if (entry && record) this.#known.set(id, { record, revision: entry.revision });
    return entry !== undefined && record !== undefined;
  }

  /** Who decided on this key, and when it was presented, where. */
  decidedBy(id: string): string | undefined {
    return this.#recordOf(id).by || undefined;
  }

  get overruled(): { readonly ids: readonly string[]; readonly folder: string } | undefined {
    return this.#overruled;
  }

  /** Called when another member decided something that changed a file here. */
  onForeign(listener: (act: KeyAct, id: string) => void): void {
    this.#foreign = listener;
  }

  /** Brings the folders to what was decided. Without the engine they stay as they are until it answers. */
  async start(): Promise<void> {
    let ready = (): void => undefined;
    const synced = new Promise<void>((resolve) => {
      ready = resolve;
    });
    this.#bucket.watch({
      on: (entry) => this.#heard(entry),
      synced: () =>
        void this.#begin().then(ready, (error: unknown) => {
          this.#parts.log.error('the keys of the cluster could not be taken over', { error: messageOf(error) });
        }),
      signal: this.#stop.signal,
    });
    await withTimeout(synced, this.#parts.cluster.state.kind === 'cut-off' ? 0 : syncMs, () =>
      this.#parts.log.warn('the keys of the cluster are not known yet: those in the folders count until then', {}),
    );
    this.#timer = setInterval(() => this.#look(), scanMs);
    this.#timer.unref();
  }

  close(): void {
    this.#stop.abort();
    this.#endChanges();
    this.#endRestoring();
    clearInterval(this.#timer);
  }

  /**
   * One decision and what follows from it in the folders, after those that were made before for the same id. Refused
   * when another member decided otherwise meanwhile; the folders then show that.
   */
  async decide(id: string, decision: Decision, apply: () => Promise<void>): Promise<void> {
    await this.#order.run(id, async () => {
      await this.#decide(id, decision);
      await apply();
    });
  }

  /** The same where the folders follow from the decision. */
  async take(id: string, decision: Decision): Promise<void> {
    const before = filed(this.#parts.files, id);
    await this.decide(id, decision, () => project(this.#parts.files, this.#recordOf(id)));
    const act = actOf(before, this.#recordOf(id));
    if (act) this.#foreign(act, id);
  }

  /** What the members decided about an id. */
  known(id: string): KeyRecord {
    return this.#recordOf(id);
  }

  /** What changed in the folders by hand is a decision. Gives what others had decided otherwise meanwhile. */
  async scan(by = 'files'): Promise<string[]> {
    const lost: string[] = [];
    if (!this.#synced) return lost;
    const ids = idsOf(this.#parts.files);
    for (const { record } of this.#known.values()) ids.add(record.id);
    const changed = [...ids].filter((id) => !this.#matches(id));
    await inPortions(changed, (id) => this.#order.run(id, () => this.#takeFiles(id, by, lost)));
    return lost;
  }

  #matches(id: string): boolean {
    return agrees(filed(this.#parts.files, id), this.#recordOf(id));
  }

  /** What all members know, or this one alone while it is cut off. */
  #recordOf(id: string): KeyRecord {
    return this.#queued.get(id)?.record ?? this.#known.get(id)?.record ?? noRecord(id);
  }

  async #takeFiles(id: string, by: string, lost: string[] = []): Promise<void> {
    const found = filed(this.#parts.files, id);
    const record = this.#recordOf(id);
    if (agrees(found, record)) return;
    const { self } = this.#parts.cluster;
    try {
      await this.#decide(id, { ...decisionOf(found, record), by: `${by} at ${self.id}` });
    } catch (error) {
      if (!isConflict(error)) throw error;
      lost.push(messageOf(error));
      this.#parts.log.warn('a key was changed here and by another master: its decision counts', {
        minion: id,
        why: messageOf(error),
      });
    }
  }

  async #decide(id: string, { state, pem, denied, by }: Decision): Promise<void> {
    const { cluster } = this.#parts;
    const before = this.#recordOf(id);
    const record: KeyRecord = {
      ...before,
      ...{ by, at: Date.now(), state: state ?? before.state, pem: pem ?? before.pem, denied: denied ?? before.denied },
    };
    const base = this.#queued.get(id)?.base ?? this.#known.get(id)?.revision;
    if (cluster.state.kind === 'cut-off') return this.#queued.add(record, base);
    try {
      await this.#store(record, this.#known.get(id)?.revision);
    } catch (error) {
      if (error instanceof HaliteError && error.code === 'cluster.cut-off') return this.#queued.add(record, base);
      if (!isConflict(error)) throw error;
      await this.#lost(record, before);
    }
  }

  async #store(record: KeyRecord, last: Revision | undefined): Promise<void> {
    const token = tokenOf(this.#parts.index, record.id);
    const value = keyValue(record);
    const isNew = last === undefined || last === lostRevision;
    const revision = isNew ? await this.#bucket.create(token, value) : await this.#bucket.update(token, value, last);
    this.#learn(token, { record, revision });
  }

  /** Another member was faster: the same decision is fine, any other one counts instead of ours. */
  async #lost(ours: KeyRecord, before: KeyRecord): Promise<void> {
    const token = tokenOf(this.#parts.index, ours.id);
    const entry = await this.#bucket.get(token);
    const record = readKeyRecord(entry?.value);
    if (!entry || !record) throw new HaliteError('cluster.conflict', `The key of ${ours.id} changes at another master`);
    this.#learn(token, { record, revision: entry.revision });
    if (record.state === ours.state && record.pem === ours.pem && record.denied === ours.denied) return;
    // Nothing was decided meanwhile: the record that this one follows was written again, as when the engine had lost it.
    const isUndecided = record.state === 'none' || isSame(record, before);
    if (isUndecided) return this.#store({ ...ours, session: record.session, rest: record.rest }, entry.revision);
    await this.#show(record);
    throw new HaliteError('cluster.conflict', `The key of ${ours.id} is ${shown(record)} meanwhile (${record.by})`, {
      hint: `Look at it with "salt-key -f '${ours.id}'", and decide again.`,
    });
  }

  #heard(entry: Entry<Value> | Removed): void {
    const id = this.#ids.get(entry.key);
    if ('removed' in entry) {
      if (id !== undefined) this.#known.delete(id);
      this.#ids.delete(entry.key);
      return;
    }
    const record = readKeyRecord(entry.value);
    if (!record || tokenOf(this.#parts.index, record.id) !== entry.key) {
      this.#parts.log.limited('shared-key', 'error', 'a record of a key in the cluster is not readable: ignored', {});
      return;
    }
    if ((this.#known.get(record.id)?.revision ?? -1) >= entry.revision) return;
    this.#learn(entry.key, { record, revision: entry.revision });
    if (this.#synced) void this.#order.run(record.id, () => this.#show(this.#recordOf(record.id))).catch(this.#failed);
  }

  #learn(token: string, known: Known): void {
    this.#ids.set(token, known.record.id);
    if ((this.#known.get(known.record.id)?.revision ?? -1) < known.revision) this.#known.set(known.record.id, known);
  }

  /** Brings the files of one id to what was decided. */
  async #show(record: KeyRecord): Promise<void> {
    const { files } = this.#parts;
    const before = filed(files, record.id);
    if (agrees(before, record)) return;
    await project(files, record);
    const act = actOf(before, record);
    if (act) this.#foreign(act, record.id);
  }

  /** The first time everything is known. Whoever comes first gives what is in its folders. */
  async #begin(): Promise<void> {
    const { files, log } = this.#parts;
    const firstTime = await this.#importOnce();
    if (!firstTime) {
      const ids = idsOf(files);
      for (const { record } of this.#known.values()) ids.add(record.id);
      const wrong = [...ids].filter((id) => !this.#queued.get(id) && !this.#matchesShared(id));
      if (wrong.length > 0) {
        const folder = this.#parts.backup();
        backUpKeys(files, wrong, folder);
        const strangers = wrong.filter((id) => filed(files, id).state !== 'none');
        for (const id of wrong) await this.#order.run(id, () => this.#overrule(id));
        if (strangers.length > 0) {
          this.#overruled = { ids: strangers, folder };
          log.warn('keys in the folders differed from those of the cluster, which count', {
            minions: listFirst(strangers, 10),
            copies: folder,
            hint: 'To take them on purpose: salt-run cluster.import_keys',
          });
        }
      }
    }
    this.#synced = true;
    this.#watch.changed(0);
    await this.#heal();
  }

  #matchesShared(id: string): boolean {
    return agrees(filed(this.#parts.files, id), this.#known.get(id)?.record ?? noRecord(id));
  }

  async #overrule(id: string): Promise<void> {
    const known = this.#known.get(id)?.record ?? noRecord(id);
    const before = filed(this.#parts.files, id);
    await project(this.#parts.files, known);
    const act = actOf(before, known);
    if (act) this.#foreign(act, id);
  }

  async #importOnce(): Promise<boolean> {
    const { files, cluster, log } = this.#parts;
    if (this.#known.size > 0 && (await this.#imported())) return false;
    // Of several first members one does it; a member that ended meanwhile is followed by the next.
    const stop = new AbortController();
    await cluster.registry.lease('import-keys', {
      ttlMs: 6_000,
      lost: () => undefined,
      signal: AbortSignal.any([stop.signal, this.#stop.signal]),
    });
    try {
      if (await this.#imported()) return false;
      const ids = [...idsOf(files)];
      await inPortions(ids, (id) => this.#order.run(id, () => this.#takeFiles(id, 'first member, files')));
      await cluster.registry.bucket<Value>('reg').create('keys', 1).catch(unlessConflict);
      log.info('the keys of this master are now those of the cluster', { keys: ids.length });
      return true;
    } finally {
      stop.abort();
    }
  }

  async #imported(): Promise<boolean> {
    return (await this.#parts.cluster.registry.bucket<Value>('reg').get('keys')) !== undefined;
  }

  /** Decisions made while this member was cut off: of two about the same id the stricter counts. */
  async #heal(): Promise<void> {
    if (!this.#synced) return;
    for (const { record, base } of this.#queued.all()) {
      await this.#order
        .run(record.id, async () => {
          if (this.#queued.get(record.id)?.record !== record) return;
          const token = tokenOf(this.#parts.index, record.id);
          const entry = await this.#bucket.get(token);
          const theirs = readKeyRecord(entry?.value);
          const result = this.#queued.merge(record, base, theirs, entry?.revision);
          if (result.differs) {
            this.#parts.log.warn('a key was decided on here and elsewhere while this master was cut off', {
              ...{ minion: record.id, here: `${record.state} (${record.by})` },
              ...{ elsewhere: `${theirs?.state} (${theirs?.by})`, now: result.record.state },
            });
          }
          if (result.record !== theirs) await this.#store(result.record, entry?.revision);
          else if (entry) this.#learn(token, { record: theirs, revision: entry.revision });
          this.#queued.remove(record.id);
          await this.#show(result.record);
        })
        .catch(this.#failed);
    }
  }

  #look(): void {
    // The engine may have refused them when this member joined again.
    if (this.#parts.cluster.state.kind !== 'cut-off' && this.#queued.all().length > 0) void this.#heal();
    if (!this.#synced || !this.#watch.changed(fullScanMs)) return;
    this.scan().catch(this.#failed);
    this.#bury();
  }

  /** Deleted keys are remembered for a time. */
  #bury(): void {
    for (const [id, { record, revision }] of this.#known) {
      if (record.state !== 'gone' || Date.now() - record.at < tombstoneMs) continue;
      this.#bucket.remove(tokenOf(this.#parts.index, id), revision).catch(this.#failed);
    }
  }

  readonly #failed = (error: unknown): void => {
    if (isConflict(error) || this.#stop.signal.aborted) return;
    this.#parts.log.limited('shared-keys', 'error', 'a key could not be shared', { error: messageOf(error) });
  };
}

function unlessConflict(error: unknown): undefined {
  if (!isConflict(error)) throw error;
}
