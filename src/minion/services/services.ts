// Services of the daemon for functions, whether they run inside it or in a job process.
import { constants } from 'node:os';
import { type Dict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { MinionOpts } from '../../base/config/index.ts';
import { type JobPool, killTree, signalTree } from '../../engine/exec/index.ts';
import type { MinionServices, RunningJob as ShownJob } from '../../extend/sdk/index.ts';
import type { PublishedJob, RunningJob } from '../../protocol/job/job.ts';
import { runningFields } from '../../protocol/wire/messages/job.ts';
import type { ProcFiles } from '../jobs/proc-files.ts';
import type { JobLink } from '../link/master-link.ts';
import { aloneName } from '../masterless.ts';
import { lastingRequest } from './lasting-request.ts';

export interface ServiceParts {
  readonly opts: MinionOpts;
  readonly pool: JobPool;
  readonly procFiles: ProcFiles;
  /** Finished jobs whose result the master has not accepted yet. */
  delivering(): PublishedJob[];
  refreshGrains(): Promise<void>;
  reloadExtensions(): void;
  schedule(request: PlainDict): Promise<PlainDict>;
  beacons(request: PlainDict): Promise<PlainDict>;
  masters(): readonly PlainDict[];
  handover(request: PlainDict): Promise<PlainDict>;
  masterKey(): Promise<PlainDict>;
  /** An event that goes to a master. */
  told(tag: string, data: Dict): void;
  /** The device of a proxy minion. */
  readonly proxy?: ((request: PlainDict) => Promise<Value>) | undefined;
  /** Who answers for a master now: itself, or one that took its place. */
  inPlaceOf(link: JobLink): JobLink;
}

/** The services for jobs of one master. */
export function createServices(parts: ServiceParts, asking: JobLink): MinionServices {
  const { opts, pool, procFiles } = parts;
  const master = (): JobLink => parts.inPlaceOf(asking);
  return {
    hasMaster: asking.name !== aloneName,
    running: async () => shownJobs(await runningJobs(pool, procFiles), parts.delivering()),
    signalJob: (jid, signal) => signalJob(pool, procFiles, jid, signal),
    masterRequest: (load, options = {}) =>
      lastingRequest(master, load, {
        timeoutMs: options.timeoutMs ?? opts.request_channel_timeout * 1000,
        ...(options.raw ? { raw: true } : {}),
        ...(options.halite ? { halite: options.halite } : {}),
      }),
    fire: (tag, data) => {
      parts.told(tag, data);
      return master().fire(tag, data);
    },
    refreshGrains: () => parts.refreshGrains(),
    refreshPillar: () => master().loadPillar(),
    compilePillar: (options) => master().compilePillar(options),
    async reloadExtensions() {
      parts.reloadExtensions();
    },
    schedule: (request) => parts.schedule(request),
    beacons: (request) => parts.beacons(request),
    masters: async () => [...parts.masters()],
    handover: (request) => parts.handover(request),
    masterKey: () => parts.masterKey(),
    ...(parts.proxy ? { proxy: parts.proxy } : {}),
  };
}

/** Jobs of this daemon, running ones of an earlier daemon, and those of salt-call. */
export async function runningJobs(pool: JobPool, procFiles: ProcFiles): Promise<RunningJob[]> {
  const found = new Map((await procFiles.running()).map((running) => [running.job.jid, running]));
  // A job is known here shortly before its file is written.
  for (const { job: inPool, pid } of pool.running()) {
    const { job } = inPool.assignment;
    if (job && !found.has(job.jid)) found.set(job.jid, { job, pid, shown: runningFields(job, pid) });
  }
  return [...found.values()];
}

/** Functions see running jobs in Salt's form. */
export function shownJobs(running: readonly RunningJob[], delivering: readonly PublishedJob[] = []): ShownJob[] {
  const late = delivering.map((job) =>
    newDict([...Object.entries(runningFields(job, process.pid)), ['delivering', true]]),
  );
  return [...running.map(({ shown }) => shown), ...late].filter(isShown);
}

const isShown = (fields: PlainDict): fields is PlainDict & ShownJob =>
  typeof fields['jid'] === 'string' && typeof fields['pid'] === 'number';

/** Salt's messages: what was sent, that nothing was running any more, or '' for an unknown job. */
export async function signalJob(pool: JobPool, procFiles: ProcFiles, jid: string, signal: number): Promise<string> {
  const sent = await pool.signal(jid, signal);
  if (sent)
    return `Signal ${signal} sent to job ${jid} at pid ${sent.pid}${stillThere(sent.gone || signal !== constants.signals.SIGKILL, sent.left)}`;
  const other = (await procFiles.running()).find((running) => running.job.jid === jid);
  if (!other) return '';
  if (signal === constants.signals.SIGKILL) {
    const { gone, left } = await killTree([other.pid]);
    await procFiles.remove(jid);
    return `Signal ${signal} sent to job ${jid} at pid ${other.pid}${stillThere(gone, left)}`;
  }
  if (signalTree([other.pid], signal) > 0) return `Signal ${signal} sent to job ${jid} at pid ${other.pid}`;
  await procFiles.remove(jid);
  return `Job ${jid} was not running and job data has been cleaned up`;
}

function stillThere(gone: boolean, left: readonly number[]): string {
  return gone ? '' : ` (these processes do not end: ${left.join(', ')})`;
}
