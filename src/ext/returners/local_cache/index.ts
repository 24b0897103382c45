// Returner `local_cache`: jobs and results as files, in the folders of Salt's own job cache.

import { basename, dirname, join } from 'node:path';
import {
  defineReturner,
  dictGet,
  HaliteError,
  isDict,
  type JobCache,
  newDict,
  type PlainDict,
  pyStr,
} from 'halite/sdk';
import { isPathComponent, rm, rmdir, stat } from 'halite/sdk/fs';
import { jidDir } from 'halite/sdk/jobs';
import { plainDict, textField } from '../shared/loads.ts';
import { exists, jobFolders, namesIn, readValue, writeValue, writeWhole } from './files.ts';

interface Place {
  readonly root: string;
  readonly hash: string;
}

const folderOf = ({ root, hash }: Place, jid: string): string => jidDir(jid, root, hash);

/** Names become part of a path: invalid names are refused. */
function minionFolder(folder: string, id: string): string {
  if (!isPathComponent(id) || id.startsWith('.')) {
    throw new HaliteError('call.failed', `The local_cache returner cannot keep a result of ${JSON.stringify(id)}`);
  }
  return join(folder, id);
}

/** The folder of a job has a file with its id; the age of this file decides when the job is removed. */
async function prepare(place: Place, jid: string): Promise<string> {
  const folder = folderOf(place, jid);
  const file = join(folder, 'jid');
  if (!(await exists(file))) await writeWhole(file, jid);
  return folder;
}

async function save(place: Place, ret: PlainDict): Promise<void> {
  const jid = textField(ret, 'jid');
  const folder = await prepare(place, jid);
  if (await exists(join(folder, 'nocache'))) return;
  const own = minionFolder(folder, textField(ret, 'id'));
  // The first result of a minion is kept.
  if (await exists(join(own, 'return.p'))) return;
  const kept = newDict();
  for (const field of ['return', 'retcode', 'success'] as const) if (ret[field] !== undefined) kept[field] = ret[field];
  if (ret['out'] !== undefined) await writeValue(join(own, 'out.p'), ret['out']);
  await writeValue(join(own, 'return.p'), kept);
}

async function readReturn(folder: string): Promise<PlainDict | undefined> {
  const value = await readValue(join(folder, 'return.p'));
  if (value === undefined) return undefined;
  const kept = isDict(value) && dictGet(value, 'return') !== undefined ? plainDict(value) : undefined;
  // Old masters stored only the return value.
  const load = kept ?? newDict([['return', value]]);
  const out = await readValue(join(folder, 'out.p'));
  if (out !== undefined) load['out'] = out;
  return load;
}

async function readReturns(folder: string): Promise<Map<string, PlainDict>> {
  const found = new Map<string, PlainDict>();
  for (const name of (await namesIn(folder)).sort()) {
    const load = name.startsWith('.') ? undefined : await readReturn(join(folder, name));
    if (load) found.set(name, load);
  }
  return found;
}

/** The job, with the targeted minions. */
async function readLoad(folder: string): Promise<PlainDict | undefined> {
  const load = plainDict(await readValue(join(folder, '.load.p')));
  if (!load) return undefined;
  const minions = new Set<string>();
  for (const name of await namesIn(folder)) {
    if (!/^\.minions\.(?:.*\.)?p$/.test(name)) continue;
    const listed = await readValue(join(folder, name));
    if (Array.isArray(listed)) for (const id of listed) minions.add(pyStr(id));
  }
  if (minions.size > 0) load['Minions'] = [...minions].sort();
  return load;
}

async function* loads(place: Place): AsyncGenerator<{ folder: string; jid: string; load: PlainDict }> {
  for await (const folder of jobFolders(place.root)) {
    const load = plainDict(await readValue(join(folder, '.load.p')));
    if (load && load['jid'] !== undefined) yield { folder, jid: pyStr(load['jid']), load };
  }
}

async function lastOf(place: Place, fun: string): Promise<Map<string, PlainDict>> {
  const jobs: { jid: string; folder: string }[] = [];
  for await (const { jid, folder, load } of loads(place)) if (load['fun'] === fun) jobs.push({ jid, folder });
  jobs.sort((a, b) => (a.jid < b.jid ? 1 : -1));
  const found = new Map<string, PlainDict>();
  for (const { folder } of jobs) {
    for (const [id, load] of await readReturns(folder)) if (!found.has(id)) found.set(id, load);
  }
  return found;
}

async function minions(place: Place): Promise<string[]> {
  const found = new Set<string>();
  for await (const folder of jobFolders(place.root)) {
    for (const name of await namesIn(folder)) {
      if (!name.startsWith('.') && (await exists(join(folder, name, 'return.p')))) found.add(name);
    }
  }
  return [...found].sort();
}

/** A folder without the file with its job id is removed, as in Salt. */
async function clean(place: Place, seconds: number): Promise<number> {
  const limit = Date.now() - seconds * 1000;
  let removed = 0;
  for await (const folder of jobFolders(place.root)) {
    const when = await stat(join(folder, 'jid')).catch(() => stat(folder).catch(() => undefined));
    if (!when || when.mtimeMs >= limit) continue;
    await rm(folder, { recursive: true, force: true });
    removed++;
    // Only an empty folder is removed.
    await rmdir(dirname(folder)).catch(() => undefined);
  }
  return removed;
}

function cacheOf(place: Place): JobCache {
  return {
    async saveLoad(jid, load, ids) {
      const folder = await prepare(place, jid);
      if (await exists(join(folder, '.load.p'))) return;
      await writeValue(join(folder, '.minions.p'), [...ids]);
      await writeValue(join(folder, '.load.p'), load);
    },
    load: (jid) => readLoad(folderOf(place, jid)),
    returns: (jid) => readReturns(folderOf(place, jid)),
    lastOf: (fun) => lastOf(place, fun),
    async jids() {
      const found = new Map<string, PlainDict>();
      for await (const { jid, load } of loads(place)) found.set(jid, load);
      return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
    },
    minions: () => minions(place),
    clean: (seconds) => clean(place, seconds),
  };
}

export default defineReturner({
  name: 'local_cache',
  doc: 'Stores jobs and results as files below cachedir/jobs, in the layout of the job cache of a Salt master.',
  keeps: ['jobs'],
  options: {},
  open(_options, ctx) {
    const hash = typeof ctx.opts['hash_type'] === 'string' ? ctx.opts['hash_type'] : 'sha256';
    const place: Place = { root: join(pyStr(ctx.opts['cachedir'] ?? ''), 'jobs'), hash };
    if (basename(dirname(place.root)) === '') throw new HaliteError('config.value', 'The option cachedir is not set');
    return { save: (ret) => save(place, ret), jobCache: cacheOf(place) };
  },
});
