// All option tables: by topic for the reference, by daemon for the loader.
import { apiOptions } from './api.ts';
import { commonAccess } from './common/access.ts';
import { commonDaemon } from './common/daemon.ts';
import { commonFiles } from './common/files.ts';
import { commonGit } from './common/git.ts';
import { commonLoader } from './common/loader.ts';
import { commonLog } from './common/log.ts';
import { commonNetwork } from './common/network.ts';
import { commonPillar } from './common/pillar.ts';
import { commonState } from './common/state.ts';
import { commonWinrepo } from './common/winrepo.ts';
import { haliteCluster, haliteLog, haliteMaster, haliteMinion, halitePython } from './halite.ts';
import { masterAccess } from './master/access.ts';
import { masterDaemon } from './master/daemon.ts';
import { masterFiles } from './master/files.ts';
import { masterKeys } from './master/keys.ts';
import { masterNetwork } from './master/network.ts';
import * as masterOwn from './master/own-defaults.ts';
import { masterPillar } from './master/pillar.ts';
import { masterPriority } from './master/priority.ts';
import { masterSsh } from './master/ssh.ts';
import { masterSyndic } from './master/syndic.ts';
import { minionIdentity } from './minion/identity.ts';
import { minionJobs } from './minion/jobs.ts';
import { minionMaster } from './minion/master.ts';
import * as minionOwn from './minion/own-defaults.ts';
import { minionProxy } from './minion/proxy.ts';
import type { OptionRow, OptionValues } from './row.ts';

/** Options under one heading of the reference. */
export interface Topic<R extends OptionRow = OptionRow> {
  readonly title: string;
  readonly rows: readonly R[];
}

function topic<P extends readonly (readonly OptionRow[])[]>(title: string, ...parts: P): Topic<P[number][number]> {
  return { title, rows: parts.flat() as P[number][number][] };
}

export const masterTopics = [
  topic('Folders, identity and the daemon', masterOwn.masterOwnDaemon, commonDaemon),
  topic('Requests, jobs and housekeeping', masterDaemon, haliteMaster),
  topic('Network and transport', masterOwn.masterOwnNetwork, commonNetwork, masterNetwork),
  topic('Logging', masterOwn.masterOwnLog, commonLog, haliteLog),
  topic('Keys', masterOwn.masterOwnAccess, commonAccess, masterKeys),
  topic('Access control', masterAccess),
  topic('File server', masterOwn.masterOwnFiles, commonFiles, masterFiles),
  topic('Git file server and git pillar', commonGit),
  topic('Pillar and templates', masterOwn.masterOwnPillar, commonPillar, masterPillar),
  topic('States and their output', commonState),
  topic('Modules, renderers and reactor', masterOwn.masterOwnLoader, commonLoader, halitePython),
  topic('Syndics and master clusters', haliteCluster, masterSyndic),
  topic('Salt SSH', masterSsh),
  topic('API', apiOptions),
  topic('Windows software repository', commonWinrepo),
  topic('Process priorities', masterPriority),
] as const;

export const minionTopics = [
  topic('Connection to the master', minionMaster, haliteMinion),
  topic('Folders, identity and the daemon', minionOwn.minionOwnDaemon, commonDaemon),
  topic('Identity and grains', minionIdentity),
  topic('Jobs and modules', minionJobs),
  topic('Network and transport', minionOwn.minionOwnNetwork, commonNetwork),
  topic('Logging', minionOwn.minionOwnLog, commonLog, haliteLog),
  topic('Access control', minionOwn.minionOwnAccess, commonAccess),
  topic('File server', minionOwn.minionOwnFiles, commonFiles),
  topic('Git file server and git pillar', commonGit),
  topic('Pillar', minionOwn.minionOwnPillar, commonPillar),
  topic('States and their output', commonState),
  topic('Modules, renderers and reactor', minionOwn.minionOwnLoader, commonLoader, halitePython),
  topic('Windows software repository', commonWinrepo),
  topic('Proxy minions', minionProxy),
] as const;

type RowsOf<T extends readonly Topic[]> = T[number]['rows'][number];

/** Values of every master option, by name. */
export type MasterValues = OptionValues<RowsOf<typeof masterTopics>>;
/** Values of every minion option, by name. */
export type MinionValues = OptionValues<RowsOf<typeof minionTopics>>;

function index(topics: readonly Topic[]): ReadonlyMap<string, OptionRow> {
  const rows = new Map<string, OptionRow>();
  for (const { rows: list } of topics) for (const row of list) rows.set(row.name, row);
  return rows;
}

export const masterOptions = index(masterTopics);
export const minionOptions = index(minionTopics);
