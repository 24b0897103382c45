// One minion: what the master has stored about it, each part with the right of the function that shows it.
import { textField } from '../../base/codec/fields.ts';
import { type Dict, dictEntries, dictGet, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { FleetView } from '../../extend/sdk/index.ts';
import type { ViewRights } from '../authorization/view-rights.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { type FleetViewParts, fleetRow, readId } from './fleet-view.ts';
import type { Viewer } from './job-access.ts';
import { type JobListParts, jobPage } from './job-list.ts';
import { wrongChoice } from './job-view.ts';
import { unknownThing } from './page.ts';

export interface MinionViewParts extends FleetViewParts, JobListParts {
  readonly fleet: Pick<Fleet, 'connections' | 'data' | 'status'>;
  readonly services: Pick<FleetView, 'explain' | 'mine'>;
}

type Part = (parts: MinionViewParts, viewer: Viewer, id: string, args: PlainDict) => Promise<Value>;

const minionParts: Readonly<Record<string, Part>> = {
  overview: async (parts, { rights }, id) => overview(parts, rights, id),
  grains: async (parts, { rights }, id) => {
    need(rights, 'grains.items', id);
    return parts.fleet.data(id)?.grains ?? newDict();
  },
  pillar: async (parts, { rights }, id, args) => pillar(parts, rights, id, args['values'] === true),
  mine: async (parts, { rights }, id) => {
    need(rights, 'mine.get', id);
    return (await parts.services.mine(id)) ?? newDict();
  },
  jobs: (parts, viewer, id, args) => jobPage(parts, viewer, args, { minion: id }),
  explain: async (parts, viewer, id) => explained(viewer, await parts.services.explain(id)),
  timeline: async (parts, viewer, id) => dictGet(explained(viewer, await parts.services.explain(id)), 'timeline') ?? [],
};

export async function minionPart(parts: MinionViewParts, viewer: Viewer, args: PlainDict): Promise<Value> {
  const id = readId(args);
  const name = textField(args, 'part') ?? 'overview';
  const part = Object.hasOwn(minionParts, name) ? minionParts[name] : undefined;
  if (!part) throw wrongChoice('The part', Object.keys(minionParts));
  if (!parts.index.rows().has(id) || !viewer.rights.covers(id)) throw unknownThing('minion');
  return part(parts, viewer, id, args);
}

/** As the function of that name, on this minion. */
function need(rights: ViewRights, fun: string, id: string): void {
  if (rights.mayRun([{ fun, args: [], kwargs: newDict() }], [id])) return;
  throw new HaliteError('auth.denied', `You may not see this part of the minion ${id}.`, {
    hint: `It needs the right to run ${fun} on it.`,
  });
}

async function overview(parts: MinionViewParts, rights: ViewRights, id: string): Promise<PlainDict> {
  const row = await fleetRow(parts, rights, id);
  const connections = parts.fleet.connections(id).map(({ since, pid, address, peer, member }) =>
    newDict([
      ['since', since],
      ['address', address || peer],
      ['pid', pid],
      ['master', member ?? null],
    ]),
  );
  row['connections'] = connections;
  row['masters'] = [...(parts.fleet.status(id)?.masters ?? [])];
  return row;
}

/** Keys are for everybody who may see the minion's pillar at all; values are secrets. */
function pillar({ fleet }: MinionViewParts, rights: ViewRights, id: string, values: boolean): Value {
  const found = fleet.data(id)?.pillar ?? newDict();
  if (!values) return newDict([['keys', dictEntries(found).map(([key]) => key)]]);
  need(rights, 'pillar.items', id);
  return found;
}

/** Fingerprints are for those who may see keys. */
function explained(viewer: Viewer, told: Dict): Dict {
  const shown = explainedJobs(viewer, told);
  if (viewer.rights.seesKeys) return shown;
  return newDict(
    dictEntries(shown)
      .map(([name, value]): [string, Value] => [String(name), value])
      .filter(([name]) => !name.endsWith('fingerprint')),
  );
}

/** The jobs of others are in the timeline of a minion: it is for those who may see them. */
function explainedJobs({ rights }: Viewer, told: Dict): Dict {
  if (rights.mayCall('runners', 'manage.explain') || rights.mayCall('runners', 'jobs.list_jobs')) return told;
  const timeline = dictGet(told, 'timeline');
  const lines = Array.isArray(timeline) ? timeline.filter((line) => !/ {2}job \d{20}\S* /.test(String(line))) : [];
  return newDict(
    dictEntries(told)
      .filter(([name]) => name !== 'pending_jobs')
      .map(([name, value]): [string, Value] => [String(name), name === 'timeline' ? lines : value]),
  );
}
