// The minion's services for a function that runs in salt-call instead of the daemon.
import { constants } from 'node:os';
import { type Dict, newDict, type PlainDict } from '../../base/codec/value.ts';
import type { MinionOpts } from '../../base/config/index.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { killTree, type Runtime, signalTree } from '../../engine/exec/index.ts';
import type { MinionServices } from '../../extend/sdk/index.ts';
import type { ProcFiles } from '../jobs/proc-files.ts';
import { fetchPillar, type PillarRequest } from '../services/pillar.ts';
import { shownJobs } from '../services/services.ts';
import type { CallerSession } from './types.ts';

export interface CallerServiceParts {
  readonly opts: MinionOpts;
  readonly session: CallerSession | undefined;
  readonly procFiles: ProcFiles;
  readonly grains: () => PlainDict;
  readonly pillar: () => Dict;
  readonly log: Logger;
  /** What calls functions here, including these services. */
  readonly runtime: () => Runtime;
  readonly keepPillar: (pillar: Dict) => void;
  /** Without a master the pillar is compiled from this machine's own folders. */
  readonly compileLocally: (request: PillarRequest) => Promise<Dict>;
  /** The device, while there is one. */
  readonly device: () => MinionServices['proxy'];
}

export function createCallerServices(parts: CallerServiceParts): MinionServices {
  const { opts, session, procFiles } = parts;
  const needMaster = (): CallerSession => {
    if (session) return session;
    throw new HaliteError('daemon.unreachable', 'This needs a master, but --local works without one');
  };
  const compile = (request: PillarRequest): Promise<Dict> =>
    session ? fetchPillar(session.channel, opts, parts.grains(), request) : parts.compileLocally(request);
  const timeoutMs = opts.request_channel_timeout * 1000;
  const running = async () => (await procFiles.running()).filter(({ pid }) => pid !== process.pid);
  return {
    hasMaster: session !== undefined,
    running: async () => shownJobs(await running()),
    async signalJob(jid, signal) {
      const pid = (await running()).find(({ job }) => job.jid === jid)?.pid;
      if (pid === undefined) return '';
      if (signal === constants.signals.SIGKILL) await killTree([pid]);
      else signalTree([pid], signal);
      return `Signal ${signal} sent to job ${jid} at pid ${pid}`;
    },
    masterRequest: async (load, options = {}) =>
      needMaster().channel.request(load, {
        timeoutMs: options.timeoutMs ?? timeoutMs,
        ...(options.raw ? { raw: true } : {}),
        ...(options.halite ? { halite: options.halite } : {}),
      }),
    async fire(tag, data) {
      if (!session) return false;
      const load = newDict([
        ['id', opts.id],
        ['cmd', '_minion_event'],
        ['pretag', null],
        ['data', data],
        ['tag', tag],
      ]);
      await session.channel.request(load, { timeoutMs });
      return true;
    },
    // The daemon collects its own grains; here they are already fresh.
    refreshGrains: async () => undefined,
    async refreshPillar() {
      parts.keepPillar(await compile({}));
      return true;
    },
    compilePillar: compile,
    reloadExtensions: async () => undefined,
    schedule: fileSchedule(parts),
    beacons: fileBeacons(parts),
    get proxy() {
      return parts.device();
    },
  };
}

/** The beacons in the minion's file; loaded on first use. */
function fileBeacons(parts: CallerServiceParts): NonNullable<MinionServices['beacons']> {
  let answer: Promise<(request: PlainDict) => Promise<PlainDict>> | undefined;
  return async (request) => {
    answer ??= import('./beacons.ts').then(({ openFileBeacons }) => openFileBeacons(parts));
    return (await answer)(request);
  };
}

/** Data about single runs exists only in the memory of the daemon. */
const daemonOnly = new Set(['run_job', 'skip_job', 'postpone_job']);

/** The schedule in the minion's file, which a running daemon watches; loaded on first use. */
function fileSchedule(parts: CallerServiceParts): NonNullable<MinionServices['schedule']> {
  let answer: Promise<(request: PlainDict) => Promise<PlainDict>> | undefined;
  const open = async () => {
    const [{ savedSchedule }, { answerSchedule }] = await Promise.all([
      import('../services/scheduler.ts'),
      import('../../engine/schedule/index.ts'),
    ]);
    const schedule = savedSchedule(parts.opts, parts.log, parts.pillar);
    return (request: PlainDict) => answerSchedule(schedule, request);
  };
  return async (request) => {
    if (daemonOnly.has(String(request['func'])))
      throw new HaliteError('daemon.unreachable', 'Only the running minion can do this', {
        hint: `Ask it through its master: salt ${parts.opts.id} schedule.${String(request['func'])} …`,
      });
    answer ??= open();
    return (await answer)(request);
  };
}
