// Delivers results to masters, also across failures of the master that asked.
import { newDict } from '../../base/codec/value.ts';
import type { MinionOpts } from '../../base/config/index.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import type { JobReturn } from '../../protocol/job/job-return.ts';
import { keptForField } from '../../protocol/job/verdict.ts';
import { returnMessage } from '../../protocol/wire/messages/job-return.ts';
import {
  type AskedMaster,
  askedMaster,
  type Claim,
  claimOf,
  type Places,
  type ReturnTarget,
  unknownMaster,
} from './asked-master.ts';
import type { Spool, Waiting } from './spool.ts';

/** A frozen master looks reachable: after this time another one is tried. */
const firstTryMs = 5000;
const soonMs = 1000;
/** Results of which another master has a copy. */
const lateMs = 15_000;
/** After `return_retry_tries` failures in a row a master rests this long. */
const longRestMs = 30_000;
/** A master that is not in use is visited this many times more rarely than one in use is tried again. */
const visitFactor = 4;
/** A copy is at another master, and the one that asked has not come back for so long. */
const keptMs = 24 * 3_600_000;
/** Results that could not be written to the disk. New jobs are refused while there are any. */
const mostUnwritten = 1000;

interface Rest {
  failures: number;
  until: number;
}

export class Returns {
  readonly #opts: MinionOpts;
  readonly #spool: Spool;
  readonly #log: Logger;
  readonly #signal: AbortSignal;
  readonly #places: Places;
  readonly #rests = new Map<string, Rest>();
  /** Files that are being sent: not twice at the same time. */
  readonly #busy = new Set<string>();
  readonly #unwritten: { readonly asked: AskedMaster; readonly ret: JobReturn }[] = [];
  #pumping: Promise<void> | undefined;
  #again = false;
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Number.POSITIVE_INFINITY;

  constructor(opts: MinionOpts, spool: Spool, log: Logger, signal: AbortSignal, places: Places) {
    this.#opts = opts;
    this.#spool = spool;
    this.#log = log;
    this.#signal = signal;
    this.#places = places;
    signal.addEventListener('abort', () => clearTimeout(this.#timer), { once: true });
  }

  /** Why no new job should be started; undefined when there is no reason. */
  get refusal(): string | undefined {
    if (this.#unwritten.length > 0)
      return 'results of earlier jobs cannot be written to the disk of this minion; look at its log';
    if (this.#spool.full)
      return 'the spool of results is full: too many results of earlier jobs wait for masters that do not take them';
    return undefined;
  }

  /**
   * Resolves when a master has the result, or when it is stored on disk. A master counts it once even if it gets it
   * twice.
   */
  async deliver(target: ReturnTarget, ret: JobReturn): Promise<void> {
    if (!this.#opts.pub_ret) return;
    const { jid } = ret;
    const asked = this.#places.oneAtATime && ret.schedule !== undefined ? unknownMaster : askedMaster(target);
    // Also to one that rests: a master that cannot store results now still tells them to those who wait.
    if (target.ready) {
      try {
        await this.#send(target, ret);
        return;
      } catch (error) {
        this.#failed(target, error, jid);
      }
    }
    this.#log.warn('the master does not take a return: it waits in the spool', { jid, master: target.name });
    await this.#keep(asked, ret);
    void this.pump();
  }

  /** A refused job has no result worth keeping. */
  async deliverOnce(target: ReturnTarget, ret: JobReturn): Promise<void> {
    if (!this.#opts.pub_ret || !target.ready) return;
    await this.#send(target, ret).catch((error: unknown) => this.#failed(target, error, ret.jid));
  }

  /** Called when a master is reachable (again). */
  async replay(target: ReturnTarget): Promise<void> {
    this.#rests.delete(target.name);
    await this.pump();
  }

  /** Sends what waits to the masters that may have it. One run at a time; a call during one causes another. */
  pump(): Promise<void> {
    this.#again = true;
    this.#pumping ??= this.#run().finally(() => {
      this.#pumping = undefined;
    });
    return this.#pumping;
  }

  async #run(): Promise<void> {
    while (this.#again && !this.#signal.aborted) {
      this.#again = false;
      await this.#writeAgain();
      const targets = this.#places.ready().filter((target) => this.#awake(target));
      const waiting = await this.#spool.list();
      await Promise.all(targets.map((target) => this.#drain(target, waiting)));
    }
    if (this.#places.oneAtATime) await this.#visitAbsent();
    await this.#plan();
  }

  /** The master that asked may be back without being used: it still wants its results. Not awaited by other results. */
  async #visitAbsent(): Promise<void> {
    for (const item of await this.#spool.list()) {
      const asked = await this.#spool.askedFor(item).catch(() => undefined);
      if (!asked || !this.#places.listed(asked.name) || !this.#awake(asked)) continue;
      if (this.#places.ready().some((target) => this.#places.serves(target, asked.name))) continue;
      this.#rests.set(asked.name, { failures: 0, until: Date.now() + visitFactor * this.#retryMs() });
      void this.#visit(asked.name);
    }
  }

  async #visit(name: string): Promise<void> {
    const visit = await this.#places.visit(name).catch(() => undefined);
    if (!visit) return;
    this.#rests.delete(name);
    try {
      await this.#drain(visit, await this.#spool.list());
    } finally {
      visit.close();
    }
  }

  /** When to look again by itself: a master may be slow, or a process of a job may have left its result. */
  async #plan(): Promise<void> {
    if (this.#signal.aborted) return;
    const waiting = await this.#spool.list();
    if (waiting.length === 0 && this.#unwritten.length === 0) return;
    const late = waiting.every(({ kept }) => kept) && this.#unwritten.length === 0;
    this.#wake(late ? Math.min(lateMs, visitFactor * this.#retryMs()) : soonMs);
  }

  #wake(ms: number): void {
    const at = Date.now() + ms;
    if (at >= this.#timerAt) return;
    clearTimeout(this.#timer);
    this.#timerAt = at;
    this.#timer = setTimeout(() => {
      this.#timerAt = Number.POSITIVE_INFINITY;
      void this.pump();
    }, ms);
    this.#timer.unref();
  }

  /** Oldest first; stops at the first failure of the master. */
  async #drain(target: ReturnTarget, waiting: readonly Waiting[]): Promise<void> {
    let count = 0;
    for (const item of waiting) {
      if (this.#signal.aborted || !target.ready || !this.#awake(target)) break;
      try {
        if (await this.#offer(target, item)) count++;
      } catch (error) {
        // Its file cannot be read at the moment: nothing is dropped because of that.
        this.#log.limited('spool unreadable', 'warn', 'a return in the spool cannot be read now', {
          ...{ jid: item.jid, error: messageOf(error) },
        });
      }
    }
    if (count > 0) this.#log.info('returns from the spool were delivered', { master: target.name, count });
  }

  async #offer(target: ReturnTarget, item: Waiting): Promise<boolean> {
    const asked = await this.#spool.askedFor(item);
    const claim = claimOf(target, asked, this.#places);
    if (!claim || !this.#due(claim, item, asked)) return this.#expire(item);
    if (this.#busy.has(item.file)) return false;
    this.#busy.add(item.file);
    try {
      return await this.#hand(target, item, asked, claim);
    } finally {
      this.#busy.delete(item.file);
    }
  }

  async #hand(target: ReturnTarget, item: Waiting, asked: AskedMaster, claim: Claim): Promise<boolean> {
    const ret = await this.#spool.read(item);
    // A run of the schedule was told to each master: a copy of one for another would be that run once more.
    if (!ret || (claim === 'copy' && ret.schedule !== undefined)) return false;
    try {
      await this.#send(target, ret, claim === 'copy' || claim === 'heir' ? asked.name : '');
    } catch (error) {
      this.#failed(target, error, item.jid);
      return false;
    }
    if (claim === 'copy') await this.#spool.markKept(item);
    else await this.#spool.remove(item);
    if (claim !== 'asked')
      this.#log.info('a return was taken by another master than the one that asked', {
        ...{ jid: item.jid, asked: asked.name, taken: target.name, why: claim },
      });
    return true;
  }

  /** The asking master first, as long as it answers; one copy is enough. */
  #due(claim: Claim, { kept }: Waiting, asked: AskedMaster): boolean {
    if (claim === 'asked' || claim === 'heir') return true;
    if (claim === 'copy' && kept) return false;
    return !this.#places.ready().some((target) => this.#places.serves(target, asked.name) && this.#awake(target));
  }

  async #expire(item: Waiting): Promise<boolean> {
    if (!item.kept || Date.now() - item.since < keptMs) return false;
    await this.#spool.remove(item);
    this.#log.warn('the master that asked did not come back for a day: another one keeps its result', {
      jid: item.jid,
    });
    return false;
  }

  async #keep(asked: AskedMaster, ret: JobReturn): Promise<void> {
    try {
      await this.#spool.add(asked, ret);
    } catch (error) {
      if (this.#signal.aborted) throw error;
      const fields = { jid: ret.jid, error: messageOf(error) };
      if (this.#unwritten.length >= mostUnwritten) {
        this.#log.error('a return is lost: no master takes it and it cannot be written to the disk', fields);
        return;
      }
      this.#log.limited(
        'spool unwritable',
        'error',
        'a return cannot be written to the disk, and waits in memory',
        fields,
      );
      this.#unwritten.push({ asked, ret });
    }
  }

  async #writeAgain(): Promise<void> {
    for (let first = this.#unwritten[0]; first; first = this.#unwritten[0]) {
      const { asked, ret } = first;
      const written = await this.#spool.add(asked, ret).then(
        () => true,
        () => false,
      );
      if (!written) return;
      this.#unwritten.shift();
    }
  }

  #awake({ name }: { readonly name: string }): boolean {
    return (this.#rests.get(name)?.until ?? 0) <= Date.now();
  }

  #failed({ name }: ReturnTarget, error: unknown, jid: string): void {
    const { failures, until } = this.#rests.get(name) ?? { failures: 0, until: 0 };
    // Many results may fail together: that is one failure of the master.
    if (until > Date.now()) return;
    const long = failures + 1 >= Math.max(1, this.#opts.return_retry_tries);
    const restMs = long ? longRestMs : this.#retryMs();
    this.#rests.set(name, { failures: failures + 1, until: Date.now() + restMs });
    this.#wake(restMs);
    if (this.#signal.aborted) return;
    this.#log.warn('a return was not accepted', {
      ...{ jid, master: name, attempt: failures + 1, error: messageOf(error) },
    });
  }

  async #send(target: ReturnTarget, ret: JobReturn, askedName = ''): Promise<void> {
    const named = ret.schedule === undefined || target.credentials?.halite === true;
    const sent = named || ret.jid === 'nocache' ? ret : { ...ret, jid: 'req' };
    const timeoutMs = Math.max(firstTryMs, this.#places.ready().length > 1 ? 0 : this.#retryMs());
    await target.request(returnMessage(sent), {
      ...{ timeoutMs, signal: this.#signal },
      ...(askedName ? { halite: newDict([[keptForField, askedName]]) } : {}),
    });
    this.#rests.delete(target.name);
  }

  /** Salt: a random time between return_retry_timer and return_retry_timer_max. */
  #retryMs(): number {
    const { return_retry_timer: low, return_retry_timer_max: high } = this.#opts;
    return (high > low ? low + Math.random() * (high - low) : low) * 1000;
  }
}
