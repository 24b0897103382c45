// Derives from the data about a minion the one reason why it returned no result, with the evidence.
import { newDict, type PlainDict } from '../../base/codec/value.ts';
import type { MasterOpts } from '../../base/config/index.ts';
import { fingerprint } from '../../base/crypto/index.ts';
import { type Reason, type ReasonCode, reasonTexts } from '../../protocol/job/verdict.ts';
import type { KeyStore } from '../../store/keys.ts';
import type { Fleet, FleetConnection, MinionRecord } from '../fleet/fleet.ts';
import { processOf } from '../shared/far-list.ts';
import type { ActiveJob } from './active-job.ts';

export const clock = (time: number): string =>
  new Date(time)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, ' UTC');

/** With a larger difference, messages may be refused because of their age. */
const skewLimit = 60;
/** A request this long after the connection was lost means that only the publish port is unreachable. */
const afterLossMs = 2_000;

export function reason(code: ReasonCode, evidence: PlainDict, detail = ''): Reason {
  return { code, text: detail ? `${reasonTexts[code]} (${detail})` : reasonTexts[code], evidence };
}

/** The data about minions and their keys. */
export interface ReasonSources {
  readonly opts: Pick<MasterOpts, 'publish_port'>;
  readonly keys: Pick<KeyStore, 'has' | 'readText'>;
  readonly fleet: Pick<Fleet, 'known' | 'connected' | 'connections' | 'lostAt' | 'isHalite' | 'since'>;
  /** The lower master that has a minion. */
  readonly lower?: { via(id: string): string | undefined };
}

export class Reasons {
  readonly #sources: ReasonSources;

  constructor(sources: ReasonSources) {
    this.#sources = sources;
  }

  /** The reason for a minion that was not reachable, known without asking it; undefined when it may answer. */
  knownAbsent(id: string): Reason | undefined {
    if (this.via(id) !== undefined) return undefined;
    const keyReason = this.#keyProblem(id);
    if (keyReason) return keyReason;
    if (this.#sources.fleet.connected(id) !== 'no') return undefined;
    const record = this.#sources.fleet.known(id);
    const evidence = this.evidenceOf(id);
    const lostAt = this.#sources.fleet.lostAt(id);
    if (lostAt === 0) {
      return this.#refusal(id, 0) ?? reason('never-connected', evidence, `since ${clock(this.#sources.fleet.since)}`);
    }
    const turnedAway = this.#refusal(id, lostAt);
    if (turnedAway) return turnedAway;
    if (record && record.lastContact > lostAt + afterLossMs) return this.#notSubscribed(id);
    return reason('connection-lost', evidence, `at ${clock(lostAt)}`);
  }

  via(id: string): string | undefined {
    return this.#sources.lower?.via(id);
  }

  /** It was not connected the last time, or could not sign in: worth a short question, not a long wait. */
  isSuspect(id: string): boolean {
    const record = this.#sources.fleet.known(id);
    if (!record || this.#sources.fleet.connected(id) === 'yes') return false;
    return record.silentSince > 0 || this.#refusal(id, record.lastContact) !== undefined;
  }

  /** Asked and not answered: the most specific known reason. */
  silence(id: string, job?: ActiveJob): Reason {
    const via = this.via(id);
    if (via !== undefined) return reason('below-silent', newDict([['lower_master', via]]), `below ${via}`);
    const absent = this.knownAbsent(id);
    if (absent) return absent;
    const record = this.#sources.fleet.known(id);
    const evidence = { ...this.evidenceOf(id), ...jobEvidence(job, id) };
    const duplicate = duplicateText(this.#sources.fleet.connections(id));
    if (duplicate) return reason('duplicate-id', evidence, duplicate);
    const turnedAway = this.#refusal(id, record?.lastContact ?? 0);
    if (turnedAway) return turnedAway;
    const skew = record && isSkewed(record) ? skewText(record.skewSeconds ?? 0) : '';
    if (skew && record?.refused) return reason('clock-skew', evidence, `${skew}, so that its messages are refused`);
    const heard = lastMilestone(job, id);
    if (heard) return reason('accepted-silent', evidence, `since ${clock(heard)}`);
    if (!record || record.lastContact === 0) {
      return reason('never-connected', evidence, `since ${clock(this.#sources.fleet.since)}`);
    }
    if (!record.tracked && this.#sources.fleet.isHalite(id)) return this.#notSubscribed(id);
    if (skew) return reason('clock-skew', evidence, `${skew}; silent since ${clock(record.lastContact)}`);
    return reason('silent', evidence, `since ${clock(record.lastContact)}`);
  }

  /** What an open verdict means at this moment. */
  unfinished(job: ActiveJob, id: string): Reason {
    const verdict = job.verdict(id);
    if (verdict?.kind !== 'running') return this.silence(id, job);
    const output = verdict.text ? `, last output: ${verdict.text}` : '';
    const evidence = { ...this.evidenceOf(id), ...jobEvidence(job, id) };
    return reason('still-running', evidence, `since ${clock(verdict.since)}${output}`);
  }

  #keyProblem(id: string): Reason | undefined {
    const { keys, fleet } = this.#sources;
    if (keys.has('accepted', id)) return undefined;
    const prints = (state: 'pending' | 'rejected' | 'denied'): PlainDict =>
      newDict([['fingerprint', printOf(keys.readText(state, id))]]);
    if (keys.has('pending', id)) return reason('key-pending', prints('pending'), `accept it with: salt-key -a ${id}`);
    if (keys.has('rejected', id)) return reason('key-rejected', prints('rejected'));
    if (keys.has('denied', id)) return reason('key-denied', prints('denied'));
    const auth = fleet.known(id)?.lastAuth;
    if (auth?.result === 'too-old') return reason('too-old', newDict([['last_sign_in', auth.detail]]), auth.detail);
    return reason('no-key', newDict());
  }

  /** A refused sign-in after that time although the key of the id is accepted. */
  #refusal(id: string, after: number): Reason | undefined {
    const auth = this.#sources.fleet.known(id)?.lastAuth;
    if (!auth || auth.at < after || (auth.result !== 'too-old' && auth.result !== 'denied')) return undefined;
    const evidence = this.evidenceOf(id);
    if (auth.result === 'too-old') return reason('too-old', evidence, auth.detail);
    evidence['accepted_fingerprint'] = printOf(this.#sources.keys.readText('accepted', id));
    evidence['presented_fingerprint'] = printOf(this.#sources.keys.readText('denied', id));
    return reason('key-denied', evidence, `at ${clock(auth.at)}`);
  }

  #notSubscribed(id: string): Reason {
    const port = this.#sources.opts.publish_port;
    return reason('not-subscribed', this.evidenceOf(id), `check the way from the minion to port ${port}`);
  }

  evidenceOf(id: string): PlainDict {
    const record = this.#sources.fleet.known(id);
    const evidence = newDict();
    if (!record) return evidence;
    if (record.lastContact > 0) evidence['last_contact'] = clock(record.lastContact);
    if (record.lostAt > 0) evidence['connection_lost'] = clock(record.lostAt);
    const address = addressOf(record);
    if (address) evidence['address'] = address;
    if (record.lastAuth) {
      evidence['last_sign_in'] = `${clock(record.lastAuth.at)}: ${record.lastAuth.result}, ${record.lastAuth.detail}`;
    }
    if (record.connections.size > 0) evidence['connections'] = record.connections.size;
    if (isSkewed(record)) evidence['clock'] = skewText(record.skewSeconds ?? 0);
    if (record.refused) evidence['last_refused_request'] = `${clock(record.refused.at)}: ${record.refused.why}`;
    return evidence;
  }
}

function printOf(pem: string | undefined): string {
  try {
    return pem ? fingerprint(pem) : '';
  } catch {
    return 'unreadable';
  }
}

/**
 * The users of the id, when there are several. A minion with several masters has a link to each of them, all of one
 * process.
 */
export function duplicateText(connections: readonly FleetConnection[]): string {
  // Two subscribers at this master are two, even from one address.
  const own = connections.filter(({ member }) => member === undefined);
  const known = new Set(own.map(({ boot }) => processOf(boot)));
  const far = connections.filter(({ member, boot }) => {
    const process = processOf(boot);
    if (member === undefined || known.has(process)) return false;
    known.add(process);
    return true;
  });
  const different = [...own, ...far];
  if (different.length < 2) return '';
  const isShared = connections.some(({ member }) => member !== undefined);
  return different.map((connection) => connectionText(connection, isShared)).join(' and ');
}

function connectionText({ address, peer, boot, pid, member, since }: FleetConnection, withMember: boolean): string {
  const where = address || (peer === 'zeromq' ? boot.slice(0, 8) : peer);
  const text = pid > 0 ? `${where} pid ${pid}` : where;
  return `${text}${withMember ? ` at ${member ?? 'this master'}` : ''} since ${clock(since)}`;
}

export const isSkewed = ({ skewSeconds }: MinionRecord): boolean =>
  skewSeconds !== undefined && Math.abs(skewSeconds) > skewLimit;

export const skewText = (seconds: number): string =>
  `${Math.round(Math.abs(seconds))} s ${seconds < 0 ? 'behind' : 'ahead of'} the master`;

/** When the minion last reported about the job. */
function lastMilestone(job: ActiveJob | undefined, id: string): number {
  const { accepted = 0, started = 0, confirmed = 0, output } = job?.milestones(id) ?? {};
  return Math.max(accepted, started, confirmed, output?.at ?? 0);
}

/** What the minion reported about the job before it became silent. */
export function jobEvidence(job: ActiveJob | undefined, id: string): PlainDict {
  const evidence = newDict();
  if (job?.adopted) evidence['adopted'] = `by ${job.adopted.by}, because ${job.adopted.from} ${job.adopted.why}`;
  const milestones = job?.milestones(id);
  if (!milestones) return evidence;
  if (milestones.accepted) evidence['job_accepted'] = clock(milestones.accepted);
  if (milestones.started) evidence['job_started'] = clock(milestones.started);
  if (milestones.confirmed) evidence['job_confirmed_running'] = clock(milestones.confirmed);
  if (milestones.output) {
    evidence['last_output'] = milestones.output.text;
    evidence['last_output_at'] = clock(milestones.output.at);
  }
  return evidence;
}

/** A Halite minion reports the address from which it connects; for others the visible one is used. */
function addressOf(record: MinionRecord): string {
  return [...record.connections.values()].at(-1)?.address || record.address;
}
