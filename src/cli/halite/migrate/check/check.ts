// `halite migrate check`: what of an existing Salt installation works here, differs or is missing.
import type { Value } from '../../../../base/codec/value.ts';
import { HaliteError } from '../../../../base/errors/index.ts';
import { compareRights } from '../../../../master/authorization/rights-report.ts';
import { Entries, type Entry } from './entry.ts';
import { type Installation, type Opening, openInstallation } from './installation.ts';
import { loadNames, type Names } from './names.ts';
import {
  type Config,
  checkOptions,
  type ReadConfig,
  type Role,
  readConfig,
  refusedConfig,
  rootsOf,
} from './options.ts';
import { Trees } from './tree.ts';

export interface CheckReport {
  readonly source: string;
  readonly configDir: string;
  readonly roles: readonly Role[];
  readonly entries: readonly Entry[];
  readonly notes: readonly string[];
}

export async function checkInstallation(opening: Opening): Promise<CheckReport> {
  const place = await openInstallation(opening);
  try {
    return await check(place, opening.scratch);
  } finally {
    await place.close();
  }
}

async function check(place: Installation, scratch: string): Promise<CheckReport> {
  const names = await loadNames();
  const entries = new Entries();
  const trees = new Trees(place, names, entries);
  const read = new Map<Role, ReadConfig>();
  const roles: Role[] = [];
  for (const role of ['master', 'minion'] as const) {
    try {
      const found = await readConfig(place, role, scratch);
      if (found) read.set(role, found);
      if (found) roles.push(role);
    } catch (error) {
      roles.push(role);
      refusedConfig(entries, role, place.configDir, error);
    }
  }
  if (roles.length === 0)
    throw new HaliteError(
      'config.missing',
      `${place.source.name} has neither ${place.configDir}/master nor ${place.configDir}/minion`,
      {
        hint: 'Name the folder or archive that has them: halite migrate check /etc/salt; in an archive: config=/folder',
      },
    );
  for (const [role, { config }] of read) collect(trees, role, config);
  for (const [role, each] of read)
    checkOptions({ place, role, read: each, names, entries, own: (kind, name) => trees.own(kind, name) });
  await trees.check();
  const master = read.get('master');
  if (master) checkRights(entries, names, master.config, `${place.configDir}/master`);
  const cut = entries.full ? ['there were more entries than a report can have'] : [];
  const notes = [...place.notes, ...place.source.notes, ...cut];
  return { source: place.source.name, configDir: place.configDir, roles, entries: entries.list(), notes };
}

/** A minion has trees of its own only when it works without a master. */
function collect(trees: Trees, role: Role, config: Config): void {
  const raw = config.opts.raw;
  const options = role === 'master' || raw['file_client'] === 'local' ? (['file_roots', 'pillar_roots'] as const) : [];
  const given = new Set(options.flatMap((option) => rootsOf(config, option)));
  for (const root of given) if (!/[*?[]|__env__/.test(root)) trees.collect(root.replace(/(.)\/+$/, '$1'));
  const synced: Value = config.given['extension_modules'] ?? null;
  if (typeof synced === 'string' && synced.startsWith('/')) trees.collect(synced, true);
}

function checkRights(entries: Entries, names: Names, { opts: { raw } }: Config, where: string): void {
  if (!raw['external_auth']) return;
  const functions = { modules: names.all('modules'), runners: names.all('runners'), wheel: names.all('wheel') };
  for (const { kind, where: rule, what } of compareRights({ raw, functions }))
    entries.add('right', rule, kind === 'mistake' || kind === 'less' ? 'missing' : 'differs', where, what);
}
