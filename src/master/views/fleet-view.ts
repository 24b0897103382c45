// The fleet as its users see it: each one the minions that some rule of theirs covers.
import { textField } from '../../base/codec/fields.ts';
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { ViewRights } from '../authorization/view-rights.ts';
import type { Targets } from '../publish/targets.ts';
import type { FleetIndex, FleetRow } from './fleet-index.ts';
import {
  type Cell,
  hasWords,
  type PageOf,
  type PageRequest,
  pageValue,
  readPage,
  sortOf,
  sortRows,
  unknownThing,
  valueOfCell,
  wordsOf,
} from './page.ts';
import type { RecentJobs } from './recent-jobs.ts';
import { followChanges, pause } from './watch.ts';

export interface FleetViewParts {
  readonly index: FleetIndex;
  readonly targets: Pick<Targets, 'match'>;
  readonly recent: RecentJobs;
}

const cols = [
  ...['id', 'state', 'since', 'key', 'version', 'os', 'address', 'lastSeen', 'lastJob', 'failed', 'tags', 'problem'],
];

/** Columns of the history are for those who may see it. */
const seesJobs = (rights: ViewRights): boolean => rights.mayCall('runners', 'jobs.list_jobs');

/** Limits for expressions of users who do not see everything: their pillar cannot be guessed with patterns. */
export const limitsOf = (rights: ViewRights): { foreign?: true; exactPillar?: true } =>
  rights.unlimited ? {} : { foreign: true, exactPillar: true };

interface Look {
  readonly rights: ViewRights;
  readonly jobs: ReadonlyMap<string, { readonly jid: string; readonly failed: number }>;
}

export async function fleetPage(parts: FleetViewParts, rights: ViewRights, args: PlainDict): Promise<PlainDict> {
  return pageValue(windowOf(parts, await lookAs(parts, rights), readPage(args)));
}

async function lookAs({ recent }: FleetViewParts, rights: ViewRights): Promise<Look> {
  return { rights, jobs: seesJobs(rights) ? await recent.byMinion() : new Map() };
}

function windowOf(parts: FleetViewParts, look: Look, request: PageRequest): PageOf {
  const found = matching(parts, look.rights, request.q);
  const { column, down } = sortOf(request.sort, cols);
  const cell = cellReader(parts, look, cols[column] ?? 'id');
  const sorted = sortRows(found, cell, ({ id }) => id, down);
  const readers = cols.map((name) => cellReader(parts, look, name));
  const rows = sorted
    .slice(request.offset, request.offset + request.limit)
    .map((row) => readers.map((read) => valueOfCell(read(row))));
  return { total: sorted.length, offset: request.offset, cols, rows, version: parts.index.version };
}

/** All rows that the caller may see. */
function visible({ index }: FleetViewParts, rights: ViewRights): FleetRow[] {
  const rows = [...index.rows().values()];
  return rights.coversAll ? rows : rows.filter(({ id }) => rights.covers(id));
}

function matching(parts: FleetViewParts, rights: ViewRights, q: string): FleetRow[] {
  const rows = visible(parts, rights);
  if (q === '') return rows;
  if (q.startsWith('@')) {
    const { matched } = parts.targets.match(q.slice(1).trim(), 'compound', limitsOf(rights));
    const ids = new Set(matched);
    return rows.filter(({ id }) => ids.has(id));
  }
  const words = wordsOf(q);
  return rows.filter(({ id, state, version, os, address, tags, problem }) =>
    hasWords([id, state, version, os, address, tags, problem], words),
  );
}

function cellReader({ index }: FleetViewParts, { jobs }: Look, name: string): (row: FleetRow) => Cell {
  switch (name) {
    case 'lastSeen':
      return ({ id }) => index.lastSeen(id);
    case 'lastJob':
      return ({ id }) => jobs.get(id)?.jid ?? null;
    case 'failed':
      return ({ id }) => jobs.get(id)?.failed ?? null;
    default:
      return (row) => fields[name]?.(row) ?? null;
  }
}

const fields: Readonly<Record<string, (row: FleetRow) => Cell>> = {
  id: ({ id }) => id,
  state: ({ state }) => state,
  since: ({ since }) => since,
  key: ({ key }) => key,
  version: ({ version }) => version,
  os: ({ os }) => os,
  address: ({ address }) => address,
  tags: ({ tags }) => tags,
  problem: ({ problem }) => problem,
};

/** One row as a map; a minion that the caller may not see does not exist. */
export async function fleetRow(parts: FleetViewParts, rights: ViewRights, id: string): Promise<PlainDict> {
  const row = parts.index.rows().get(id);
  if (!row || !rights.covers(id)) throw unknownThing('minion');
  const look = await lookAs(parts, rights);
  return newDict(cols.map((name) => [name, valueOfCell(cellReader(parts, look, name)(row))]));
}

/** The last contact changes all the time: pages that are open show it to the minute. */
const minute = 60_000;
const leastPauseMs = 250;

/** A window of the list, then what changes in it. */
export async function* watchFleet(
  parts: FleetViewParts,
  rightsNow: () => Promise<ViewRights>,
  args: PlainDict,
  signal: AbortSignal,
): AsyncIterable<Value> {
  const request = readPage(args);
  const changes = followChanges((changed) => parts.index.onChange(changed), signal, minute / 6);
  try {
    let before: PageOf | undefined;
    while (!signal.aborted) {
      const started = performance.now();
      const now = coarse(windowOf(parts, await lookAs(parts, await rightsNow()), request));
      const item = before
        ? difference(before, now)
        : newDict([
            ['type', 'page'],
            ['page', pageValue(now)],
          ]);
      before = now;
      if (item) yield item;
      await pause(leastPauseMs, performance.now() - started, signal);
      await changes.next();
    }
  } finally {
    changes.close();
  }
}

const seenColumn = cols.indexOf('lastSeen');

function coarse(page: PageOf): PageOf {
  const rows = page.rows.map((row) =>
    row.map((cell, at) => (at === seenColumn && typeof cell === 'number' ? cell - (cell % minute) : cell)),
  );
  return { ...page, rows };
}

/** Cells that differ, the positions of rows that are gone, and the total; undefined when nothing differs. */
function difference(before: PageOf, now: PageOf): PlainDict | undefined {
  const cells: Value[] = [];
  for (const [at, row] of now.rows.entries()) {
    const old = before.rows[at];
    for (const [column, cell] of row.entries())
      if (!old || !sameCell(old[column], cell)) cells.push([at, column, cell]);
  }
  const gone: Value[] = before.rows.slice(now.rows.length).map((_row, at) => now.rows.length + at);
  if (cells.length === 0 && gone.length === 0 && before.total === now.total) return undefined;
  return newDict([
    ['type', 'delta'],
    ['version', now.version],
    ['cells', cells],
    ['gone', gone],
    ['total', now.total],
  ]);
}

const sameCell = (a: Value | undefined, b: Value): boolean =>
  a === b || (Array.isArray(a) && Array.isArray(b) && a.join('\n') === b.join('\n'));

export function readId(args: PlainDict): string {
  const id = textField(args, 'id') ?? '';
  if (id === '') throw new HaliteError('call.arguments', 'The id of a minion is missing.');
  return id;
}

/** How many there are of each kind. */
export function fleetCounts(parts: FleetViewParts, rights: ViewRights): Record<string, Record<string, number>> {
  const counts: Record<'states' | 'versions' | 'os' | 'problems', Record<string, number>> = {
    states: Object.create(null),
    versions: Object.create(null),
    os: Object.create(null),
    problems: Object.create(null),
  };
  const add = (to: Record<string, number>, name: string): void => {
    const known = to[name];
    // What minions say about themselves must not make the answer endless.
    if (known === undefined && Object.keys(to).length >= mostKinds) to['…'] = (to['…'] ?? 0) + 1;
    else to[name] = (known ?? 0) + 1;
  };
  for (const { state, version, os, problem } of visible(parts, rights)) {
    add(counts.states, state);
    if (version !== '') add(counts.versions, version);
    if (os !== '') add(counts.os, os);
    if (problem !== '') add(counts.problems, state);
  }
  return counts;
}

const mostKinds = 100;
