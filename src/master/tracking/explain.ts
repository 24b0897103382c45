// What the master knows, in chronological order: the timeline of a job, and everything about one minion.
import { type Dict, dictGet, isDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { MasterOpts } from '../../base/config/index.ts';
import { jidToMillis } from '../../base/util/jid.ts';
import type { MinionTrouble, TimelineEntry } from '../../extend/sdk/index.ts';
import { funName, type PublishedJob } from '../../protocol/job/job.ts';
import type { Reason } from '../../protocol/job/verdict.ts';
import type { JobStore, VerdictRecord } from '../../store/jobs.ts';
import type { KeyStore } from '../../store/keys.ts';
import { storedJob } from '../../store/records.ts';
import type { Fleet, FleetConnection } from '../fleet/fleet.ts';
import type { DurableJobs } from './durable.ts';
import { clock, duplicateText, isSkewed, type Reasons, reason, skewText } from './reasons.ts';
import { milestoneTimes, type Tracker } from './tracker.ts';

export interface ExplainParts {
  readonly opts: Pick<MasterOpts, 'minimum_auth_version'>;
  readonly store: Pick<JobStore, 'load' | 'expected' | 'verdicts' | 'query'>;
  readonly keys: Pick<KeyStore, 'ids' | 'statesOf'>;
  readonly fleet: Pick<Fleet, 'known' | 'since' | 'connected' | 'connections' | 'lostAt' | 'grains' | 'isHalite'>;
  readonly tracker: Pick<Tracker, 'job'>;
  readonly durable: Pick<DurableJobs, 'list' | 'deliveredAt'>;
  readonly reasons: Reasons;
}

/** The results of `jobs.explain`, `manage.explain` and `halite doctor`. */
export class Explain {
  readonly #parts: ExplainParts;

  constructor(parts: ExplainParts) {
    this.#parts = parts;
  }

  /** Every milestone of a job: from the store, and open ones from the tracker. */
  timeline(jid: string): Promise<TimelineEntry[]> {
    return jobTimeline(this.#parts, jid);
  }

  /** Everything about one minion, with its events in order. */
  minion(id: string): Promise<Dict> {
    return explainMinion(this.#parts, id);
  }

  /** Problems of accepted minions; no minion is asked, so it is fast for any number of them. */
  troubles(): MinionTrouble[] {
    return fleetTroubles(this.#parts);
  }
}

const text = (value: Value | undefined): string => (value === null || value === undefined ? '' : String(value));

/** Number of jobs shown for a minion. */
const recentJobs = 5;

const milestoneWords: Readonly<Record<string, string>> = {
  sent: 'sent',
  queued: 'kept for it',
  delivered: 'delivered',
  accepted: 'accepted',
  started: 'started',
  confirmed: 'still running',
  output: 'last output',
};

async function jobTimeline(parts: ExplainParts, jid: string): Promise<TimelineEntry[]> {
  const { store } = parts;
  const entries: TimelineEntry[] = [];
  const load = await store.load(jid);
  if (load) {
    const expected = await store.expected(jid);
    const at = new Date(jidToMillis(jid) ?? 0);
    entries.push({ at, id: '', what: 'published', text: publishedText(storedJob(load), expected.length) });
  }
  entries.push(...(await duplicateEntries(parts, jid)));
  const results = await returnEntries(parts, jid);
  const returned = new Set(results.map((entry) => entry.id));
  const verdicts = await store.verdicts(jid);
  const told = new Set(verdicts.map((verdict) => verdict.id));
  entries.push(...adoptionEntries([...verdicts.map(({ evidence }) => evidence), ...trackedEvidence(parts, jid)]));
  for (const verdict of verdicts) entries.push(...verdictEntries(verdict, returned.has(verdict.id)));
  entries.push(...results, ...openEntries(parts, jid, told), ...pendingEntries(parts, jid));
  return entries.sort((a, b) => a.at.getTime() - b.at.getTime());
}

function publishedText(job: PublishedJob | undefined, minions: number): string {
  const { fun = '', tgt = '', user = '' } = job ?? {};
  const whom = typeof tgt === 'string' ? tgt : tgt.join(',');
  const cut = whom.length > 60 ? `${whom.slice(0, 60)}…` : whom;
  if (job?.keptFor !== undefined) return `${funName(fun)} by the master ${job.keptFor}; this one keeps its results`;
  return `${funName(fun)} by ${user} for ${cut} (${minions} minion${minions === 1 ? '' : 's'})`;
}

/** Several minions of one id run a job several times; the first result counts. */
async function duplicateEntries({ store, fleet }: ExplainParts, jid: string): Promise<TimelineEntry[]> {
  return (await store.expected(jid)).flatMap((id) => {
    const connections = fleet.connections(id);
    const who = connections.length < 2 ? '' : duplicateText(connections);
    if (who === '') return [];
    const at = new Date(Math.max(...connections.map(({ since }) => since)));
    return [{ at, id, what: 'duplicate', text: `several minions use this id: ${who}; the first result counts` }];
  });
}

async function returnEntries({ store }: ExplainParts, jid: string): Promise<TimelineEntry[]> {
  const rows = await store.query('SELECT id, retcode, success, received FROM ret WHERE jid = ?', [jid]);
  return (rows as Record<string, Value>[]).map((row) => ({
    at: new Date(Number(row['received'])),
    id: text(row['id']),
    what: row['success'] === 1 && row['retcode'] === 0 ? 'returned' : 'failed',
    text: `exit code ${text(row['retcode'])}`,
  }));
}

function verdictEntries(
  { id, verdict, reason, text: why, evidence, at }: VerdictRecord,
  came: boolean,
): TimelineEntry[] {
  const entries = milestoneEntries(id, evidence);
  if (reason === '') return entries;
  const late = came && verdict !== 'deadline' ? ' (its result came later)' : '';
  return [...entries, { at: new Date(at), id, what: verdict, text: `${why}${late}` }];
}

const trackedEvidence = ({ tracker }: ExplainParts, jid: string): Dict[] => {
  const job = tracker.job(jid);
  const [id] = job?.verdicts().keys() ?? [];
  return job && id !== undefined ? [milestoneTimes(job, id)] : [];
};

/** Other masters of the cluster went on with the job: it is noted with each of its minions, and told once. */
function adoptionEntries(evidence: readonly Dict[]): TimelineEntry[] {
  const found = new Map<string, TimelineEntry>();
  for (const each of evidence) {
    const adoption = dictGet(each, 'adoption');
    if (!isDict(adoption)) continue;
    const [by, at, why] = ['by', 'at', 'text'].map((name) => dictGet(adoption, name));
    found.set(`${text(by)} ${text(at)}`, {
      at: new Date(Number(at)),
      id: '',
      what: `adopted by ${text(by)}`,
      text: text(why),
    });
  }
  return [...found.values()];
}

function milestoneEntries(id: string, evidence: Dict): TimelineEntry[] {
  const milestones = dictGet(evidence, 'milestones');
  if (!isDict(milestones) || milestones instanceof Map) return [];
  const output = text(dictGet(evidence, 'last_output'));
  return Object.entries(milestones).map(([milestone, at]) => ({
    at: new Date(Number(at)),
    id,
    what: milestoneWords[milestone] ?? milestone,
    text: milestone === 'output' ? output : '',
  }));
}

/** What the tracker has and the store does not have yet. */
function openEntries(parts: ExplainParts, jid: string, told: ReadonlySet<string>): TimelineEntry[] {
  const job = parts.tracker.job(jid);
  const entries: TimelineEntry[] = [];
  const at = new Date();
  for (const [id, verdict] of job?.verdicts() ?? []) {
    if (!job || told.has(id)) continue;
    entries.push(...milestoneEntries(id, milestoneTimes(job, id)));
    if (verdict.kind === 'waiting' && !job.isOpen(id))
      entries.push({ at, id, what: 'waiting', text: 'its slot in the batch' });
    else if (verdict.kind === 'running')
      entries.push({ at, id, what: 'running', text: parts.reasons.unfinished(job, id).text });
    else if (verdict.kind === 'waiting')
      entries.push({ at, id, what: 'waiting', text: `nothing heard yet: ${parts.reasons.unfinished(job, id).text}` });
  }
  return entries;
}

function pendingEntries({ durable }: ExplainParts, jid: string): TimelineEntry[] {
  const entries: TimelineEntry[] = [];
  for (const { id, until } of durable.list().filter((delivery) => delivery.jid === jid)) {
    if (durable.deliveredAt(jid, id) === 0)
      entries.push({ at: new Date(), id, what: 'queued', text: `until ${clock(until)}` });
  }
  return entries;
}

function fleetTroubles(parts: ExplainParts): MinionTrouble[] {
  return parts.keys.ids('accepted').flatMap((id) => {
    const why =
      parts.reasons.knownAbsent(id) ?? (parts.reasons.isSuspect(id) ? parts.reasons.silence(id) : troubleOf(parts, id));
    return why ? [{ id, code: why.code, text: why.text }] : [];
  });
}

/** For a minion that is connected and may answer. */
function troubleOf({ fleet }: ExplainParts, id: string): Reason | undefined {
  const duplicates = duplicateText(fleet.connections(id));
  if (duplicates) return reason('duplicate-id', newDict(), duplicates);
  const record = fleet.known(id);
  if (record && isSkewed(record)) return reason('clock-skew', newDict(), skewText(record.skewSeconds ?? 0));
  return undefined;
}

async function explainMinion(parts: ExplainParts, id: string): Promise<Dict> {
  const { keys, fleet, durable } = parts;
  const told = newDict([
    ['id', id],
    ['key', keys.statesOf(id).join(', ') || 'none'],
    ['connected', fleet.connected(id)],
  ]);
  for (const [name, value] of Object.entries(parts.reasons.evidenceOf(id))) told[name] = value;
  addRecord(parts, id, told);
  const waiting = durable.list().filter((delivery) => delivery.id === id);
  if (waiting.length > 0) told['pending_jobs'] = waiting.map((delivery) => delivery.jid);
  const unheard = (fleet.known(id)?.lastContact ?? 0) === 0;
  const why =
    parts.reasons.knownAbsent(id) ?? (unheard || parts.reasons.isSuspect(id) ? parts.reasons.silence(id) : undefined);
  if (why) {
    told['would_be_missing_because'] = why.text;
    told['reason'] = why.code;
    for (const [name, value] of Object.entries(why.evidence)) told[name] ??= value;
  }
  told['timeline'] = await minionTimeline(parts, id);
  return told;
}

function addRecord({ fleet, opts }: ExplainParts, id: string, told: PlainDict): void {
  const grains = fleet.grains(id);
  const version = grains && (dictGet(grains, 'haliteversion') ?? dictGet(grains, 'saltversion'));
  if (version !== undefined) told['version'] = version;
  addConnections(fleet.connections(id), told);
  const record = fleet.known(id);
  if (!record) return;
  told['protocol'] = fleet.isHalite(id) ? 'Halite' : `Salt, generation P${record.generation}`;
  told['minimum_auth_version'] = opts.minimum_auth_version;
  if (record.transport) told['transport'] = record.transport;
  if (record.skewSeconds !== undefined && Math.abs(record.skewSeconds) >= 2)
    told['clock'] = skewText(record.skewSeconds);
}

function addConnections(connections: readonly FleetConnection[], told: PlainDict): void {
  const duplicates = duplicateText(connections);
  if (duplicates) told['duplicate_id'] = duplicates;
  told['live_connections'] = connections.map(({ boot, since, peer, pid, address, member }) =>
    newDict([
      ...(member === undefined ? [] : [['master', member] as const]),
      ['address', address || peer],
      ['pid', pid],
      ['since', clock(since)],
      ['boot', boot.slice(0, 16)],
    ]),
  );
}

/** Sign-in, connection and the last jobs, oldest first. */
async function minionTimeline(parts: ExplainParts, id: string): Promise<string[]> {
  const record = parts.fleet.known(id);
  const lines: [number, string][] = [[parts.fleet.since, 'the master started']];
  const add = (at: number | undefined, what: string): void => {
    if (at) lines.push([at, what]);
  };
  if (record?.lastAuth) add(record.lastAuth.at, `sign-in: ${record.lastAuth.result}, ${record.lastAuth.detail}`);
  for (const { since, pid, address, member } of parts.fleet.connections(id)) {
    const where = `${address ? ` from ${address}` : ''}${pid > 0 ? `, pid ${pid}` : ''}${member ? `, to ${member}` : ''}`;
    add(since, `connected${where}`);
  }
  add(parts.fleet.lostAt(id), 'connection lost');
  add(record?.silentSince, 'did not answer a question about a job');
  add(record?.refused?.at, `request refused: ${record?.refused?.why}`);
  add(record?.lastContact, 'last message');
  for (const [at, what] of await jobsOf(parts, id)) add(at, what);
  return lines.sort(([a], [b]) => a - b).map(([at, what]) => `${clock(at)}  ${what}`);
}

async function jobsOf({ store }: ExplainParts, id: string): Promise<[number, string][]> {
  const sql = (table: string, columns: string, time: string): string =>
    `SELECT t.jid AS jid, job.fun AS fun, ${columns}, t.${time} AS at FROM job CROSS JOIN ${table} t ON t.jid = job.jid AND t.id = ? ` +
    `WHERE job.internal = 0 ORDER BY job.started DESC LIMIT ${recentJobs}`;
  const results = await store.query(sql('ret', 't.retcode AS said', 'received'), [id]);
  const missing = await store.query(sql('verdict', 't.text AS said, t.reason AS reason', 'at'), [id]);
  const row = (entry: Dict, name: string): string => text(dictGet(entry, name));
  return [
    ...results.map((entry): [number, string] => [
      Number(row(entry, 'at')),
      `job ${row(entry, 'jid')} ${row(entry, 'fun')}: returned with exit code ${row(entry, 'said')}`,
    ]),
    ...missing
      .filter((entry) => row(entry, 'reason') !== '')
      .map((entry): [number, string] => [
        Number(row(entry, 'at')),
        `job ${row(entry, 'jid')} ${row(entry, 'fun')}: ${row(entry, 'said')}`,
      ]),
  ];
}
