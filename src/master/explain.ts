// What the master knows, told in order: the time line of a job, and everything about one minion.
import { type Dict, newDict, type Value } from '../base/codec/value.ts';
import { jidToMillis } from '../base/util/jid.ts';
import type { TimelineEntry } from '../extend/sdk/index.ts';
import type { Master } from './core.ts';
import { evidenceOf, silence } from './reasons.ts';

const text = (value: Value | undefined): string => (value === null || value === undefined ? '' : String(value));

/** Published, returned, missing: from the store, with what is still open from the tracker. */
export async function jobTimeline(master: Master, jid: string): Promise<TimelineEntry[]> {
  const { store, tracker } = master;
  const entries: TimelineEntry[] = [];
  const load = await store.load(jid);
  if (load) {
    const expected = await store.expected(jid);
    const at = new Date(jidToMillis(jid) ?? 0);
    entries.push({ at, id: '', what: 'published', text: `to ${expected.length} minions` });
  }
  const rows = await store.query('SELECT id, retcode, success, received FROM ret WHERE jid = ?', [jid]);
  for (const row of rows as Record<string, Value>[]) {
    const good = row['success'] === 1 && row['retcode'] === 0;
    const what = good ? 'returned' : 'failed';
    entries.push({
      at: new Date(Number(row['received'])),
      id: text(row['id']),
      what,
      text: `exit code ${text(row['retcode'])}`,
    });
  }
  const returned = new Set(entries.map((entry) => entry.id));
  for (const verdict of await store.verdicts(jid)) {
    const late = returned.has(verdict.id) ? ' (its result came later)' : '';
    entries.push({ at: new Date(verdict.at), id: verdict.id, what: verdict.verdict, text: `${verdict.text}${late}` });
  }
  for (const [id, verdict] of tracker.job(jid)?.verdicts() ?? []) {
    if (verdict.kind === 'running')
      entries.push({ at: new Date(verdict.since), id, what: 'running', text: verdict.text });
    if (verdict.kind === 'waiting') entries.push({ at: new Date(), id, what: 'waiting', text: 'nothing heard yet' });
    if (verdict.kind === 'queued') {
      entries.push({ at: new Date(), id, what: 'queued', text: `until ${new Date(verdict.until).toISOString()}` });
    }
  }
  return entries.sort((a, b) => a.at.getTime() - b.at.getTime());
}

export function explainMinion(master: Master, id: string): Dict {
  const { keys, fleet, durable } = master;
  const told = newDict([
    ['id', id],
    ['key', keys.statesOf(id).join(', ') || 'none'],
    ['connected', fleet.connected(id)],
  ]);
  for (const [name, value] of Object.entries(evidenceOf(master, id))) told[name] = value;
  const record = fleet.known(id);
  if (record) {
    told['protocol'] = record.halite ? 'Halite' : `Salt, generation P${record.generation}`;
    if (record.transport) told['transport'] = record.transport;
    told['live_connections'] = [...record.connections.values()].map((connection) =>
      newDict([
        ['boot', connection.boot],
        ['since', new Date(connection.since).toISOString()],
        ['peer', connection.peer],
      ]),
    );
  }
  const waiting = durable.list().filter((delivery) => delivery.id === id);
  if (waiting.length > 0) told['pending_jobs'] = waiting.map((delivery) => delivery.jid);
  if (fleet.connected(id) !== 'yes') told['would_be_missing_because'] = silence(master, id).text;
  return told;
}
