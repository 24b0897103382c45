// Jobs and minion data in the files of Salt's local job cache, as rows of a job history. The files come from another
// machine: each is decoded within limits, read field by field, and left out when it is not what it should be.
import { readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { unpack } from '../../../base/codec/msgpack/index.ts';
import { asDict, asList, dictGet, isDict, newDict, type PlainDict, type Value } from '../../../base/codec/value.ts';
import { isJid, jidToMillis } from '../../../base/util/jid.ts';
import { isValidMinionId } from '../../../base/util/valid-id.ts';
import { isProblem } from '../../../protocol/wire/messages/fields.ts';
import { readPublishedJob } from '../../../protocol/wire/messages/job.ts';
import type { JobStore } from '../../../store/jobs.ts';
import { jobRecord, returnRecord } from '../../../store/records.ts';
import type { Blobs } from '../blobs.ts';
import type { SourceFile } from '../sources/source.ts';

const limits = { maxDepth: 64, maxBytes: 256 * 1024 * 1024, maxItems: 2_000_000 };

export interface Imported {
  jobs: number;
  results: number;
  minions: number;
  /** Files that are not what their names say. */
  unusable: number;
}

interface JobFiles {
  load?: SourceFile;
  minions: SourceFile[];
  readonly results: Map<string, { ret?: SourceFile; out?: SourceFile }>;
}

export const saltCachePaths = (cachedir: string): string[] => [join(cachedir, 'jobs'), join(cachedir, 'minions')];

/** Which of the listed files are used. */
export function saltCacheFiles(cachedir: string, listed: readonly SourceFile[]): SourceFile[] {
  const wanted =
    /^jobs\/[^/]+\/[^/]+\/(\.load\.p|\.minions[^/]*\.p|[^/]+\/(return|out)\.p)$|^minions\/[^/]+\/(data|mine)\.p$/;
  return listed.filter(({ path, size }) => wanted.test(relative(cachedir, path)) && size <= limits.maxBytes);
}

function jobsOf(cachedir: string, files: readonly SourceFile[]): Map<string, JobFiles> {
  const jobs = new Map<string, JobFiles>();
  for (const file of files) {
    const [kind, top, rest, ...name] = relative(cachedir, file.path).split('/');
    if (kind !== 'jobs') continue;
    const key = `${top}/${rest}`;
    const job: JobFiles = jobs.get(key) ?? { minions: [], results: new Map() };
    jobs.set(key, job);
    const [first = '', second] = name;
    if (second === undefined && first === '.load.p') job.load = file;
    else if (second === undefined) job.minions.push(file);
    else {
      const result = job.results.get(first) ?? {};
      job.results.set(first, result);
      if (second === 'return.p') result.ret = file;
      else result.out = file;
    }
  }
  return jobs;
}

export async function importSaltCache(
  cachedir: string,
  files: readonly SourceFile[],
  blobs: Blobs,
  store: JobStore,
): Promise<Imported> {
  const done: Imported = { jobs: 0, results: 0, minions: 0, unusable: 0 };
  const decode = (file: SourceFile | undefined): Value | undefined => {
    if (!file || !blobs.has(file.sha256)) return undefined;
    try {
      return unpack(readFileSync(blobs.path(file.sha256)), limits);
    } catch {
      done.unusable++;
      return undefined;
    }
  };
  for (const job of jobsOf(cachedir, files).values()) await importJob(job, decode, store, done);
  for (const [id, parts] of minionsOf(cachedir, files)) {
    const data = asDict(decode(parts.get('data.p')));
    const grains = data && asDict(dictGet(data, 'grains'));
    const pillar = data && asDict(dictGet(data, 'pillar'));
    if (grains) {
      await store.saveMinionData(id, { grains, pillar: pillar ?? newDict() });
      done.minions++;
    }
    const mine = asDict(decode(parts.get('mine.p')));
    if (mine) await store.saveMine(id, mine);
  }
  return done;
}

function minionsOf(cachedir: string, files: readonly SourceFile[]): Map<string, Map<string, SourceFile>> {
  const minions = new Map<string, Map<string, SourceFile>>();
  for (const file of files) {
    const id = basename(dirname(file.path));
    if (!relative(cachedir, file.path).startsWith('minions/') || !isValidMinionId(id)) continue;
    minions.set(id, (minions.get(id) ?? new Map<string, SourceFile>()).set(basename(file.path), file));
  }
  return minions;
}

async function importJob(
  files: JobFiles,
  decode: (file: SourceFile | undefined) => Value | undefined,
  store: JobStore,
  done: Imported,
): Promise<void> {
  const load = decode(files.load);
  if (!isDict(load)) return;
  const job = readPublishedJob(load);
  if (isProblem(job) || !isJid(job.jid)) {
    done.unusable++;
    return;
  }
  const expected = files.minions.flatMap((file) => (asList(decode(file)) ?? []).filter(isValidMinionId));
  const started = jidToMillis(job.jid) ?? 0;
  const about = { expected: [...new Set(expected)], started, internal: job.fun === 'saltutil.find_job' };
  await store.saveJob(jobRecord(job, about));
  done.jobs++;
  for (const [id, { ret, out }] of files.results) {
    const said = decode(ret);
    if (!isValidMinionId(id) || !isDict(said)) continue;
    const { jid, fun } = job;
    const success = dictGet(said, 'success') !== false;
    const retcode = Number(dictGet(said, 'retcode') ?? 0);
    const result = {
      id,
      jid,
      fun,
      return: dictGet(said, 'return') ?? null,
      success,
      retcode: Number.isInteger(retcode) ? retcode : 1,
    };
    const shown = decode(out);
    const fields: PlainDict = newDict(
      Object.entries({ ...result, ...(typeof shown === 'string' ? { out: shown } : {}) }) as [string, Value][],
    );
    if ((await store.saveReturn(returnRecord(result, fields, started))) === 'stored') done.results++;
  }
}
