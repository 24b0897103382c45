// The masters below this one, each with a syndic that signed in here like a minion: who they are, which minions they
// have, and the jobs for which they are still to say so.
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { MasterOpts } from '../../base/config/index.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { matchesGlob } from '../../base/util/fnmatch.ts';
import { isJid } from '../../base/util/jid.ts';
import { replaceFileNow } from '../../base/util/replace-file.ts';
import { isValidMinionId } from '../../base/util/valid-id.ts';
import { Gathering, type GatheringParts } from './gathering.ts';

export interface LowerMasterParts {
  readonly opts: Pick<MasterOpts, 'order_masters' | 'syndic_dir' | 'syndic_wait' | 'lower_masters'>;
  readonly log: Pick<Logger, 'info' | 'limited'>;
  readonly keys: { accepted(id: string): object | undefined };
}

/** What is known about one of them. */
interface Lower {
  /** It answers every job with a list, and tells why minions return nothing. */
  halite: boolean;
  /** It has lower masters itself: more lists may follow its own. */
  deep: boolean;
  /** A minion uses the same id and key. */
  minion: boolean;
}

/** Minions of lower masters; the least recently used are forgotten. */
const mostRoutes = 200_000;
const mostLower = 1000;
/** Minions that started here, whose id a syndic may use later. */
const mostStarted = 100_000;
const mostGatherings = 2_000;

export class LowerMasters {
  readonly #parts: LowerMasterParts;
  readonly #lower = new Map<string, Lower>();
  readonly #routes = new Map<string, string>();
  readonly #started = new Set<string>();
  readonly #gatherings = new Map<string, Gathering>();

  constructor(parts: LowerMasterParts) {
    this.#parts = parts;
    if (parts.opts.order_masters) this.#restore();
  }

  /** Whether this master is one of masters. */
  get on(): boolean {
    return this.#parts.opts.order_masters;
  }

  has(id: string): boolean {
    return this.#lower.has(id) && this.#parts.keys.accepted(id) !== undefined;
  }

  /** Whether the id is that of a syndic alone: nothing answers jobs under it. */
  isNoMinion(id: string): boolean {
    return this.#lower.get(id)?.minion === false;
  }

  /** Those with an accepted key. */
  ids(): string[] {
    return [...this.#lower.keys()].filter((id) => this.has(id));
  }

  /** The lower master that has a minion without a key here; its own minion may have the id of its syndic. */
  via(minion: string): string | undefined {
    if (this.#routes.size === 0) return undefined;
    const via = this.#routes.get(minion);
    if (via === undefined || !this.#parts.keys.accepted(minion)) return via;
    return via === minion && this.isNoMinion(minion) ? via : undefined;
  }

  /** A syndic announced itself. */
  started(id: string, halite: boolean): void {
    const { log, opts } = this.#parts;
    const known = this.#lower.get(id);
    if (!opts.lower_masters.some((glob) => matchesGlob(id, glob)) || (!known && this.#lower.size >= mostLower)) {
      log.limited(`lower:${id}`, 'warn', 'a minion says that it is a syndic, which lower_masters does not allow', {
        minion: id,
      });
      return;
    }
    if (known && known.halite === halite) return;
    log.info('a lower master has connected', { id });
    this.#lower.set(id, { halite, deep: known?.deep === true, minion: known?.minion ?? this.#started.has(id) });
    this.#keep(id);
  }

  minionStarted(id: string): void {
    if (this.#started.size < mostStarted) this.#started.add(id);
    const lower = this.#lower.get(id);
    if (!lower || lower.minion) return;
    lower.minion = true;
    this.#keep(id);
  }

  /** Its key was deleted. */
  forget(id: string): void {
    if (!this.#lower.delete(id)) return;
    for (const [minion, via] of this.#routes) if (via === id) this.#routes.delete(minion);
    rmSync(join(this.#parts.opts.syndic_dir, id), { force: true });
  }

  /** A result of a minion came by way of a lower master, which may be quicker than its list. */
  returned(from: string, minion: string): void {
    if (minion !== from || this.isNoMinion(from)) this.#route(minion, from);
  }

  /** Waits for lists about a job; undefined when no lower master can have a minion of it. */
  gather(jid: string, job: Omit<GatheringParts, 'asked' | 'waitMs' | 'alwaysAnswers'>): Gathering | undefined {
    const asked = this.ids();
    if (asked.length === 0) return undefined;
    const gathering = new Gathering({
      ...job,
      asked,
      waitMs: this.#parts.opts.syndic_wait * 1000,
      alwaysAnswers: (id) => this.#lower.get(id)?.halite === true,
    });
    this.#gatherings.set(jid, gathering);
    const [oldest] = this.#gatherings.keys();
    if (this.#gatherings.size > mostGatherings && oldest !== undefined) this.#gatherings.delete(oldest);
    return gathering;
  }

  /** Whether a result of this minion may belong to the job, as far as its id tells; undefined for a job that is not known. */
  mayBe(jid: string, id: string): boolean | undefined {
    return this.#gatherings.get(jid)?.mayBe(id);
  }

  /**
   * An event that a lower master passed on, with its prefix `syndic/<id>/`: one about a job names the minions that get
   * it there, one with a further prefix those of a master below that one.
   */
  passedOn(from: string, tag: string, minions: readonly string[] | undefined, growing: boolean): void {
    const lower = this.#lower.get(from);
    if (!lower) return;
    const [, , ...inner] = tag.split('/');
    const nested = inner[0] === 'syndic' || (inner[0] === 'salt' && inner[1] === 'syndic');
    if (nested) lower.deep = true;
    const jid = inner.at(-1);
    if (!minions || !isJid(jid) || (inner.length > 1 && !nested)) return;
    this.#listed(from, jid, minions, !nested && (lower.halite ? !growing : !lower.deep));
  }

  #listed(from: string, jid: string, minions: readonly string[], complete: boolean): void {
    const ids = minions.filter((id) => isValidMinionId(id) && (id === from || !this.#parts.keys.accepted(id)));
    // The minion beside a lower master often has the id of its syndic, and is connected to that master only.
    for (const id of ids) if (id !== from || this.isNoMinion(from)) this.#route(id, from);
    this.#gatherings.get(jid)?.listed(from, ids, complete);
  }

  #route(id: string, via: string): void {
    const known = this.#routes.get(id);
    if (known !== undefined && known !== via)
      this.#parts.log.limited(`route:${id}`, 'info', 'two lower masters say that they have the same minion', {
        ...{ minion: id, lower_masters: `${known}, ${via}` },
      });
    this.#routes.delete(id);
    this.#routes.set(id, via);
    const [oldest] = this.#routes.keys();
    if (this.#routes.size > mostRoutes && oldest !== undefined) this.#routes.delete(oldest);
  }

  /** Salt's file, of which its existence counts there. */
  #keep(id: string): void {
    const { syndic_dir: folder } = this.#parts.opts;
    const { halite, minion } = this.#lower.get(id) ?? { halite: false, minion: false };
    try {
      mkdirSync(folder, { recursive: true, mode: 0o755 });
      replaceFileNow(join(folder, id), [halite ? 'halite' : '', minion ? 'minion' : ''].join(' ').trim());
    } catch (error) {
      this.#parts.log.limited('lower-file', 'error', 'a lower master could not be noted on the disk', {
        ...{ id, error: messageOf(error) },
      });
    }
  }

  /** A syndic announces itself once for each connection: after a restart of this master it may say nothing. */
  #restore(): void {
    const { syndic_dir: folder } = this.#parts.opts;
    let names: string[] = [];
    try {
      names = readdirSync(folder);
    } catch {
      // No lower master has ever connected.
    }
    for (const id of names.filter((name) => isValidMinionId(name)).slice(0, mostLower)) {
      const words = readNote(join(folder, id)).split(' ');
      this.#lower.set(id, { halite: words.includes('halite'), deep: false, minion: words.includes('minion') });
    }
  }
}

function readNote(file: string): string {
  try {
    return readFileSync(file, 'utf8').slice(0, 100).trim();
  } catch {
    return '';
  }
}
