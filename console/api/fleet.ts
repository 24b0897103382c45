// Minions: the table, one of them, and which ones a target means.
import { ask, get, part, type Query } from './http.ts';
import { countsOf, type Fields, fieldsOf, numberOf, type Page, pageOf, textOf, textsOf, timeOf } from './read.ts';

export interface MinionRow {
  readonly id: string;
  readonly state: string;
  readonly since: number | undefined;
  readonly key: string;
  readonly version: string;
  readonly os: string;
  readonly address: string;
  readonly lastSeen: number | undefined;
  readonly lastJob: string;
  /** Of its latest jobs. */
  readonly failed: number;
  readonly tags: readonly string[];
  readonly problem: string;
}

export const minionRow = (fields: Fields): MinionRow => ({
  id: textOf(fields['id']),
  state: textOf(fields['state']),
  since: timeOf(fields['since']),
  key: textOf(fields['key']),
  version: textOf(fields['version']),
  os: textOf(fields['os']),
  address: textOf(fields['address']),
  lastSeen: timeOf(fields['lastSeen']),
  lastJob: textOf(fields['lastJob']),
  failed: numberOf(fields['failed']) ?? 0,
  tags: textsOf(fields['tags']),
  problem: textOf(fields['problem']),
});

export const fleet = async (query: Query, signal?: AbortSignal): Promise<Page> =>
  pageOf(await get('fleet', query, signal));

/** Columns of the list, in the order in which the live stream counts them. */
export const fleetColumns = [
  ...['id', 'state', 'since', 'key', 'version', 'os', 'address', 'lastSeen', 'lastJob', 'failed', 'tags', 'problem'],
] as const;

export interface FleetSummary {
  readonly total: number;
  readonly states: Readonly<Record<string, number>>;
  readonly versions: Readonly<Record<string, number>>;
  readonly systems: Readonly<Record<string, number>>;
  readonly keys: Readonly<Record<string, number>>;
  /** Minions that would give no result, by their state. */
  readonly problems: Readonly<Record<string, number>>;
}

const summaryOf = (fields: Fields): FleetSummary => ({
  total: numberOf(fields['total']) ?? 0,
  states: countsOf(fields['states']),
  versions: countsOf(fields['versions']),
  systems: countsOf(fields['os']),
  keys: countsOf(fields['keys']),
  problems: countsOf(fields['problems']),
});

export const fleetSummary = async (): Promise<FleetSummary> => summaryOf(fieldsOf(await get('fleet/summary')));

/** A message of the live stream has only what changed. */
export function mergeSummary(before: FleetSummary, changes: Fields): FleetSummary {
  const { total, states, versions, systems, keys, problems } = before;
  return summaryOf({ ...{ total, states, versions, os: systems, keys, problems }, ...changes });
}

export const minionFacts = async (id: string): Promise<Fields> => fieldsOf(await get(`minions/${part(id)}`));

export type MinionPart = 'grains' | 'pillar' | 'mine' | 'jobs' | 'explain' | 'timeline';

export const minionPart = (id: string, what: MinionPart, query?: Query): Promise<unknown> =>
  get(`minions/${part(id)}/${what}`, query);

export interface TargetPreview {
  readonly classes: Readonly<Record<string, readonly string[]>>;
  readonly total: number;
  readonly sentence: string;
}

export async function previewTarget(tgt: string, tgtType: string, signal: AbortSignal): Promise<TargetPreview> {
  const fields = fieldsOf(await ask('POST', 'targets/preview', { body: { tgt, tgt_type: tgtType }, signal }));
  const classes = Object.fromEntries(
    Object.entries(fieldsOf(fields['classes'])).map(([name, ids]) => [
      name,
      Array.isArray(ids) ? textsOf(ids) : Object.keys(fieldsOf(ids)),
    ]),
  );
  return { classes, total: numberOf(fields['total']) ?? 0, sentence: textOf(fields['summary']) };
}
