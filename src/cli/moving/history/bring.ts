// The history of the old master, as a file that is ready to be placed: a copy of its database, or the files of Salt's
// job cache read into a copy of the history that is here already.
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { HaliteError } from '../../../base/errors/index.ts';
import { openDatabase } from '../../../store/sqlite/driver.ts';
import { schemaVersion, views } from '../../../store/sqlite/schema.ts';
import { SqliteJobStore } from '../../../store/sqlite/store.ts';
import type { Blobs } from '../blobs.ts';
import type { OldMaster } from '../old-master.ts';
import type { Change } from '../place.ts';
import { hashOf } from '../sources/folder.ts';
import { importSaltCache, saltCacheFiles, saltCachePaths } from './salt-cache.ts';
import { countsOf, databaseProblem, snapshotDatabase } from './snapshot.ts';

export interface Brought {
  /** For the report. */
  readonly text: string;
  /** The new database, when there is one. */
  readonly file?: string;
}

export async function bringHistory(old: OldMaster, target: string, scratch: string, blobs: Blobs): Promise<Brought> {
  const file = join(scratch, 'history.db');
  for (const name of [file, `${file}-wal`, `${file}-shm`]) rmSync(name, { force: true });
  return old.program === 'Halite' ? bringDatabase(old, target, file) : bringSaltCache(old, target, file, blobs);
}

async function bringDatabase(old: OldMaster, target: string, file: string): Promise<Brought> {
  const copied = await old.source.snapshot(join(old.config.opts.cachedir, 'halite.db'), file);
  if (copied !== true) return { text: `history not copied: ${copied}` };
  await makeHarmless(file, old.source.name);
  const [there, here] = [await countsOf(file), await countsOf(target)];
  const counts = `${there?.jobs ?? 0} jobs, ${there?.results ?? 0} results`;
  if (here && here.jobs === there?.jobs && here.results === there.results)
    return { text: `history: ${counts}, as here` };
  const before = here && here.jobs > 0 ? ` (instead of ${here.jobs} jobs here)` : '';
  return { text: `history: ${counts}${before}`, file };
}

/** A database can contain programs (triggers, views): only known tables are accepted, and the views are made anew. */
async function makeHarmless(file: string, name: string): Promise<void> {
  const problem = await databaseProblem(file);
  const refuse = (why: string): HaliteError =>
    new HaliteError('store.corrupt', `The history of ${name} cannot be used: ${why}`, {
      hint: 'To clone without it: history=False',
    });
  if (problem !== undefined) throw refuse(problem);
  const db = await openDatabase(file);
  try {
    db.exec('PRAGMA trusted_schema = OFF');
    const version = Number(db.prepare('PRAGMA user_version').get()?.['user_version'] ?? 0);
    if (version > schemaVersion) throw refuse(`it is of a newer Halite (schema ${version}, here ${schemaVersion})`);
    const objects = db.prepare('SELECT type, name, sql FROM sqlite_master').all();
    for (const { type, name: object, sql } of objects) {
      const known = type === 'table' || type === 'index' || type === 'view';
      const plain = /^[a-z_0-9]+$/.test(String(object));
      if (!known || !plain || /\bVIRTUAL\b|\bGENERATED\b|\bCHECK\b/i.test(type === 'table' ? String(sql) : ''))
        throw refuse(`it contains the ${String(type)} ${String(object).slice(0, 60)}`);
    }
    for (const { type, name: object } of objects) if (type === 'view') db.exec(`DROP VIEW "${String(object)}"`);
    if (version === schemaVersion) db.exec(views);
    db.exec('PRAGMA journal_mode = DELETE');
  } finally {
    db.close();
  }
}

async function bringSaltCache(old: OldMaster, target: string, file: string, blobs: Blobs): Promise<Brought> {
  const { cachedir } = old.config.opts;
  const files = saltCacheFiles(cachedir, await old.source.list(saltCachePaths(cachedir)));
  if (files.length === 0) return { text: 'history: the job cache is empty there' };
  await blobs.fetch(old.source, files);
  if (existsSync(target)) {
    const copied = await snapshotDatabase(target, file);
    if (copied !== true) throw new HaliteError('store.unavailable', copied);
  }
  const store = await SqliteJobStore.open(file, {});
  const before = (await countsOf(target)) ?? { jobs: 0, results: 0 };
  const done = await importSaltCache(cachedir, files, blobs, store).finally(() => store.close());
  const after = (await countsOf(file)) ?? before;
  const odd = done.unusable > 0 ? `; ${done.unusable} files were not readable` : '';
  const text = `history: ${done.jobs} jobs and the data of ${done.minions} minions from Salt's job cache${odd}`;
  return after.jobs === before.jobs && after.results === before.results ? { text: `${text}, as here` } : { text, file };
}

/** The changes that put it in place; the side files of the old database would belong to the wrong one. */
export async function historyChanges(file: string, target: string, owner: Change['owner']): Promise<Change[]> {
  const content = { file, sha256: await hashOf(file) };
  return [
    { path: `${target}-wal`, mode: 0o600 },
    { path: `${target}-shm`, mode: 0o600 },
    { path: target, content, mode: 0o600, owner },
  ];
}
