// What goes to minions, by way of the relay: every master of a cluster sends it, in the same order. One master alone
// sends it at once.
import { messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import type { Cluster } from '../../engine/cluster/api.ts';
import type { JobPublication, MarkPublication, Publication, RotatePublication } from '../../engine/cluster/messages.ts';
import type { PublishedJob } from '../../protocol/job/job.ts';
import type { Publisher } from './publisher.ts';

export interface PublicationParts {
  readonly cluster: Pick<Cluster, 'name' | 'self' | 'state' | 'relay'>;
  readonly publisher: Pick<Publisher, 'send'>;
  readonly log: Pick<Logger, 'limited'>;
  /** This master is to be stopped, and others are not. */
  readonly isDrained?: () => boolean;
}

/** What other parts of the master do at the place of a publication that is no job: before the next one is sent. */
export interface OtherPublications {
  rotate(publication: RotatePublication, place: number): Promise<void> | void;
  mark(publication: MarkPublication, place: number): Promise<void> | void;
}

/** A job that came through the relay, of this master or of another one. */
export type JobListener = (publication: JobPublication, late: boolean) => void;

/** How a publication left this master: `cutOff` when only its own minions got it, with the reason. */
export interface Sent {
  readonly cutOff?: string;
}

const sentByAll: Sent = {};
const done = Promise.resolve();
/** How long the engine may take before a job is sent to the own minions only. */
const engineMs = 2_000;
/**
 * A master that is to be stopped sends so much later than the others: minions take a job from the first that sends it, and
 * give the result to that one.
 */
const drainedMs = 300;
/** A publication that another master reads later than that is not sent any more. */
const ttlMs = 15_000;
/** Between two places there is room for what a master sends while it is cut off: a serial always grows. */
const serialsPerPlace = 2 ** 20;
const rememberedLocal = 10_000;

export class Publications {
  readonly #parts: PublicationParts;
  readonly #alone: boolean;
  #others: Partial<OtherPublications> = {};
  #listener: JobListener | undefined;
  #number = 0;
  #lastPlace: number;
  #local = 0;
  /** Of a master without others: who waits until a publication is sent. */
  readonly #waiting = new Map<Publication, { resolve(sent: Sent): void; reject(error: unknown): void }>();
  /** Sent to the own minions while the engine was away: they are not sent again when it is back. */
  readonly #sentHere = new Set<string>();

  constructor(parts: PublicationParts) {
    this.#parts = parts;
    this.#alone = parts.cluster.name === undefined;
    // A master that is restarted while the engine is away counts on: minions take smaller serials for repetitions.
    this.#lastPlace = parts.cluster.relay.place;
    parts.cluster.relay.onPublication((publication, place, late) => this.#take(publication, place, late));
  }

  /** Registers what happens at the place of a publication that is no job. */
  handle(others: Partial<OtherPublications>): void {
    this.#others = { ...this.#others, ...others };
  }

  /** Called for each job of any master, before it is sent. */
  onJob(listener: JobListener): void {
    this.#listener = listener;
  }

  /** Sends a job to minions, of all masters. `ids`: the minions it is for, when they are known. */
  async send(job: PublishedJob, ids?: readonly string[]): Promise<Sent> {
    const { relay, self, state } = this.#parts.cluster;
    const publication: JobPublication = {
      kind: 'job',
      job,
      owner: self.slot,
      at: Date.now(),
      ttlMs,
      ...(ids ? { ids } : {}),
    };
    // A batch sends one job in several parts, and a kept job is sent again: each of them is a publication.
    const key = `${job.jid}.${self.boot}.${++this.#number}`;
    if (this.#alone) return this.#sendAlone(key, publication);
    try {
      await relay.publish(key, publication, state.kind === 'cut-off' ? 0 : engineMs);
      return sentByAll;
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'cluster.cut-off') throw error;
      await this.#sendHere(publication);
      return { cutOff: messageOf(error) };
    }
  }

  /** Resolves when it was sent; a failure is one of its sender. */
  #sendAlone(key: string, publication: JobPublication): Promise<Sent> {
    return new Promise((resolve, reject) => {
      this.#waiting.set(publication, { resolve, reject });
      void this.#parts.cluster.relay.publish(key, publication, engineMs);
    });
  }

  #take(publication: Publication, place: number, late: boolean): Promise<void> {
    if (publication.kind === 'job') {
      if (this.#alone) this.#sendNow(publication);
      else this.#sendJob(publication, place, late);
      return done;
    }
    if (place > 0) this.#enter(place);
    const act = this.#others[publication.kind] as
      | ((publication: Publication, place: number) => Promise<void> | void)
      | undefined;
    return Promise.resolve(act?.(publication, place));
  }

  #sendNow(publication: JobPublication): void {
    const waiting = this.#waiting.get(publication);
    this.#waiting.delete(publication);
    const { job, ids } = publication;
    this.#parts.publisher.send(job, ids).then(
      () => waiting?.resolve(sentByAll),
      (error: unknown) => waiting?.reject(error),
    );
  }

  /** Not awaited: it is encrypted here, in order, and the publisher keeps that order. */
  #sendJob(publication: JobPublication, place: number, late: boolean): void {
    this.#listener?.(publication, late);
    if (place > 0) this.#enter(place);
    if (late || (place > 0 && this.#sentHere.delete(identity(publication)))) return;
    const serial = place > 0 ? place * serialsPerPlace : this.#localSerial();
    const afterMs = place > 0 && this.#parts.isDrained?.() ? drainedMs : 0;
    this.#parts.publisher.send(publication.job, publication.ids, serial, afterMs).catch((error: unknown) => {
      this.#parts.log.limited('publish', 'error', 'a publication could not be sent', {
        ...{ jid: publication.job.jid, error: messageOf(error) },
      });
    });
  }

  #enter(place: number): void {
    this.#lastPlace = place;
    this.#local = 0;
  }

  /** Above everything that was sent, and below everything that the relay will order later. */
  #localSerial(): number {
    this.#local = Math.min(this.#local + 1, serialsPerPlace - 1);
    return this.#lastPlace * serialsPerPlace + this.#local;
  }

  async #sendHere(publication: JobPublication): Promise<void> {
    this.#listener?.(publication, false);
    this.#sentHere.add(identity(publication));
    const [oldest] = this.#sentHere;
    if (this.#sentHere.size > rememberedLocal && oldest !== undefined) this.#sentHere.delete(oldest);
    await this.#parts.publisher.send(publication.job, publication.ids, this.#localSerial());
  }
}

const identity = ({ job, at, owner, ids }: JobPublication): string => `${job.jid} ${owner} ${at} ${ids?.length ?? ''}`;
