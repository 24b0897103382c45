// Who did what: logins, refusals, jobs, runners, wheel functions and decisions about keys, as events and as rows that
// are only ever added. Only where users other than the master's own can reach it.
import { textField } from '../../base/codec/fields.ts';
import { dictEntries, dictGet, isDict, newDict, type PlainDict } from '../../base/codec/value.ts';
import type { MasterOpts } from '../../base/config/index.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import type { EventBus } from '../../protocol/event/bus.ts';
import type { AuditRecord, JobStore } from '../../store/jobs.ts';
import type { Caller } from '../authorization/authorization.ts';
import { ownerOf, type StartedJobs } from './started-jobs.ts';

export interface AuditParts {
  readonly opts: Pick<MasterOpts, 'raw'>;
  readonly log: Pick<Logger, 'limited'>;
  readonly bus: Pick<EventBus, 'fire'>;
  readonly store: Pick<JobStore, 'saveAudit' | 'query'>;
}

export type AuditWhat = 'login' | 'logout' | 'refused' | 'job' | 'runner' | 'wheel' | 'keys' | 'stop' | 'pillar';

export interface AuditFacts {
  readonly what: AuditWhat;
  readonly target?: string;
  readonly fun?: string;
  readonly result?: string;
  readonly jid?: string;
  readonly key?: string;
  readonly digest?: string;
}

/** Strangers can be refused as often as they like: so many rows in a second, and the rest is only counted. */
const mostRefusedPerSecond = 20;
const longestText = 512;
const mostRestored = 20_000;

export class Audit {
  readonly #parts: AuditParts;
  readonly #enabled: boolean;
  #second = 0;
  #refused = 0;

  constructor(parts: AuditParts) {
    this.#parts = parts;
    const { external_auth: users } = parts.opts.raw;
    this.#enabled = isDict(users) && dictEntries(users).length > 0;
  }

  /** A caller that is known. */
  note(caller: Caller, args: PlainDict, facts: AuditFacts): Promise<void> {
    const { user, external } = caller;
    return this.#save(user, external?.identity.eauth ?? '', args, facts);
  }

  /** A caller that named itself, and was not believed or not permitted. */
  stranger(args: PlainDict, facts: AuditFacts): void {
    if (facts.result !== 'ok' && !this.#mayRefuse()) return;
    const user = textField(args, 'username') ?? textField(args, 'user') ?? '';
    void this.#save(user, textField(args, 'eauth') ?? '', args, facts);
  }

  #mayRefuse(): boolean {
    const second = Math.floor(Date.now() / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#refused = 0;
    }
    this.#refused += 1;
    return this.#refused <= mostRefusedPerSecond;
  }

  /** Settles when the row is durable; a store that fails keeps nobody from working. */
  async #save(user: string, eauth: string, args: PlainDict, facts: AuditFacts): Promise<void> {
    if (!this.#enabled) return;
    const record: AuditRecord = {
      ...{ at: Date.now(), user: cut(user), eauth: cut(eauth), origin: cut(textField(args, 'from') ?? '') },
      ...{ agent: cut(textField(args, 'agent') ?? ''), request: cut(textField(args, 'request') ?? '') },
      ...{
        what: facts.what,
        target: cut(facts.target ?? ''),
        fun: cut(facts.fun ?? ''),
        result: cut(facts.result ?? 'ok'),
      },
      ...{ jid: facts.jid ?? null, key: facts.key ?? null, digest: facts.digest ?? null },
    };
    const { key: _key, digest: _digest, ...shown } = record;
    this.#parts.bus.fire('halite/audit', newDict(Object.entries(shown)));
    try {
      await this.#parts.store.saveAudit([record]);
    } catch (error) {
      this.#parts.log.limited('audit', 'error', 'the audit could not be stored', { error: messageOf(error) });
    }
  }

  /** Who started the latest jobs, also before the last start of the master. */
  async restore(started: StartedJobs): Promise<void> {
    if (!this.#enabled) return;
    const sql = `SELECT jid, user, eauth FROM audit WHERE jid IS NOT NULL ORDER BY number DESC LIMIT ${mostRestored}`;
    const rows = await this.#parts.store.query(sql).catch(() => []);
    for (const row of rows.reverse()) {
      const [jid, user, eauth] = ['jid', 'user', 'eauth'].map((name) => String(dictGet(row, name)));
      if (!started.knows(jid!)) started.remember(jid!, eauth === '' ? user! : `${eauth}:${user}`);
    }
  }

  /** The job that the same request started earlier. */
  async earlier(caller: Caller, key: string, since: number): Promise<{ jid: string; digest: string } | undefined> {
    const sql = 'SELECT jid, digest FROM audit WHERE key = ? AND at > ? AND jid IS NOT NULL ORDER BY number LIMIT 1';
    const [row] = await this.#parts.store.query(sql, [keyOf(caller, key), since]);
    return row && { jid: String(dictGet(row, 'jid')), digest: String(dictGet(row, 'digest')) };
  }
}

/** The keys of different users are different keys. */
export const keyOf = (caller: Caller, key: string): string => `${ownerOf(caller)}\n${key}`;

const cut = (text: string): string => text.slice(0, longestText).replace(/[\x00-\x1f\x7f]/g, ' ');
