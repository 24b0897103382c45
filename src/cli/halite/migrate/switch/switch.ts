// `halite migrate run` and `back`: Halite takes the place of the Salt master of this machine, with the same configuration
// and keys, and every minion is asked before and after. One command leads back, also after an interruption.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { loadMasterConfig } from '../../../../base/config/index.ts';
import { HaliteError, messageOf } from '../../../../base/errors/index.ts';
import { exitCodes } from '../../../../base/util/exit-codes.ts';
import { listFirst } from '../../../../base/util/list-first.ts';
import { thisMaster } from '../../../moving/this-master.ts';
import { checkInstallation } from '../check/check.ts';
import { checkText, countOf } from '../check/report.ts';
import { type Migration, readMigration, removeMigration, writeMigration } from './record.ts';
import {
  commandOf,
  mastersOf,
  ownBin,
  run,
  runningBin,
  type Side,
  startMaster,
  startText,
  stopEither,
  stopMaster,
  stopText,
} from './side.ts';
import { besideText, isUnit } from './unit.ts';
import { type Verdict, verdictText, verify, whoAnswers } from './verify.ts';

export interface SwitchRequest {
  readonly configDir: string;
  /** Folder of Salt's commands; '' to take that of the master that runs. */
  readonly old: string;
  readonly oldStop: string;
  readonly oldStart: string;
  readonly stop: string;
  readonly start: string;
  /** How long minions may take to come. */
  readonly wait: number;
  /** With how many lost minions Halite stays nevertheless. */
  readonly mostLost: number;
  /** Go on although the check says that something is missing. */
  readonly force: boolean;
  readonly backup: string;
  readonly dryRun: boolean;
  readonly scratch: string;
  say(text: string): void;
  print(text: string): void;
}

async function oldBin({ old, configDir }: SwitchRequest): Promise<string> {
  const bin = old || runningBin(configDir);
  if (bin === undefined)
    throw new HaliteError('config.missing', `No master runs with the configuration in ${configDir}`, {
      hint: "Start Salt's master first: its minions are asked before and after. Or name its commands: old=/opt/saltstack/salt",
    });
  const said = existsSync(join(bin, 'salt')) ? (await run(join(bin, 'salt'), ['--version'], 60_000)).stdout : '';
  if (!/^salt /.test(said) || said.includes('Halite'))
    throw new HaliteError('config.value', `${bin} has no command salt of Salt: ${said.trim() || 'no answer'}`, {
      hint: "Name the folder of Salt's own commands: old=/opt/saltstack/salt",
    });
  return bin;
}

/** Salt's master and ours; what is not given belongs to the unit `salt-master` where that is what runs. */
async function sidesOf(request: SwitchRequest): Promise<{ old: Side; own: Side }> {
  const { configDir, oldStop, oldStart, stop, start } = request;
  const old = { bin: await oldBin(request), node: '', stop: oldStop, start: oldStart };
  const own = { bin: ownBin(), node: process.execPath, stop, start };
  if (!isUnit(mastersOf(configDir))) return { old, own };
  const unit = (given: string, verb: string): string => given || `systemctl ${verb} salt-master`;
  const beside = besideText([...commandOf(own, 'salt-master'), '-c', configDir]);
  return {
    old: {
      ...old,
      stop: unit(oldStop, 'stop'),
      start: unit(oldStart, 'start'),
      beside: oldStart === '' ? '' : undefined,
    },
    own: { ...own, stop: unit(stop, 'stop'), start: unit(start, 'start'), beside: start === '' ? beside : undefined },
  };
}

export async function migrateRun(request: SwitchRequest): Promise<number> {
  const { configDir, say, print, force, wait, mostLost } = request;
  const { opts } = loadMasterConfig({ configDir });
  if (readMigration(opts.cachedir))
    throw new HaliteError('call.failed', 'A migration is under way here already', {
      hint: 'To look at its minions and end it: halite migrate done. To go back: halite migrate back.',
    });
  const report = await checkInstallation({
    ...{ name: '', configDir, inside: configDir, root: '/', scratch: request.scratch },
  });
  print(checkText(report, false));
  if (countOf(report, 'missing') > 0 && !force)
    throw new HaliteError('call.failed', 'Something is missing, see above: nothing was changed', {
      hint: 'Change it, or accept it with force=True.',
    });
  const { old, own } = await sidesOf(request);
  say(`asking the minions of ${old.bin}`);
  const { yes: before, no } = await whoAnswers(old, configDir);
  print(planText(request, { configDir, old, own, before, backup: '' }, no));
  // Without an answer before, none afterwards says anything.
  if (before.length === 0 && acceptedIn(opts.pki_dir) && !force)
    throw new HaliteError('call.failed', 'No minion answers Salt: nothing was changed', {
      hint: 'Look with: salt-run manage.status. To go on nevertheless: force=True.',
    });
  if (request.dryRun) {
    print('Nothing was changed: this is a dry run.\n');
    return exitCodes.ok;
  }
  const { backupMaster } = await import('../../../moving/bundle/backup.ts');
  const folder = request.backup || join(opts.cachedir, 'backup', 'master');
  const saved = await backupMaster({
    ...{ master: await thisMaster(configDir), folder, keep: 0, roots: true, history: true, dryRun: false },
    lock: async () => ({ kind: 'none' }),
  });
  print(`backup: ${saved}`);
  const migration: Migration = { configDir, old, own, before, backup: folder };
  writeMigration(opts.cachedir, migration);
  let verdicts: Verdict[] = [];
  try {
    say('stopping Salt');
    await stopMaster(old, opts, configDir);
    say('starting Halite');
    await startMaster(own, configDir);
    verdicts = await verify(own, configDir, before, { seconds: wait, say });
  } catch (error) {
    print(`Halite could not take its place: ${messageOf(error)}\nGoing back.\n`);
    await goBack(migration, request);
    return exitCodes.generic;
  }
  print(`Minions of Halite:\n${verdictText(verdicts)}`);
  const lost = verdicts.filter(({ id, answers }) => !answers && before.includes(id)).map(({ id }) => id);
  if (lost.length > mostLost) {
    print(`${lost.length} minions are lost: ${listFirst(lost, 20)}\nGoing back.\n`);
    await goBack(migration, request);
    return exitCodes.generic;
  }
  print(`Halite is the master now. The way back: halite migrate back. When you are sure: halite migrate done\n`);
  return exitCodes.ok;
}

function acceptedIn(pkiDir: string): boolean {
  try {
    return readdirSync(join(pkiDir, 'minions')).length > 0;
  } catch {
    return false;
  }
}

function planText(
  { mostLost, wait }: SwitchRequest,
  { configDir, old, own, before }: Migration,
  no: readonly string[],
): string {
  return [
    `${before.length} minions answer Salt${no.length > 0 ? `; these do not: ${listFirst(no, 20)}` : ''}`,
    'The plan:',
    '  1. write a backup of configuration, keys, files, pillar and job cache',
    `  2. stop Salt: ${stopText(old)}`,
    `  3. start Halite: ${startText(own, configDir)}`,
    `  4. ask every minion, for at most ${wait} seconds`,
    `  5. with more than ${mostLost} of them lost, or when Halite does not start, go back: ${stopText(own)}; ${startText(old, configDir)}`,
    `Configuration and keys stay as they are in ${configDir}.`,
    '',
  ].join('\n');
}

async function goBack(migration: Migration, { say, print, wait }: SwitchRequest): Promise<number> {
  const { configDir, old, own, before } = migration;
  const { opts } = loadMasterConfig({ configDir });
  say('stopping Halite');
  await stopEither(own, old, opts, configDir);
  say('starting Salt');
  await startMaster(old, configDir);
  const verdicts = await verify(old, configDir, before, { seconds: wait, say });
  print(`Minions of Salt:\n${verdictText(verdicts)}`);
  removeMigration(opts.cachedir);
  const lost = verdicts.filter(({ id, answers }) => !answers && before.includes(id));
  print(
    lost.length === 0
      ? 'Salt is the master again.\n'
      : `Salt is the master again; ${lost.length} minions do not answer it.\n`,
  );
  return lost.length === 0 ? exitCodes.ok : exitCodes.generic;
}

function underWay({ configDir }: SwitchRequest): { migration: Migration; cachedir: string } {
  const { opts } = loadMasterConfig({ configDir });
  const migration = readMigration(opts.cachedir);
  if (migration) return { migration, cachedir: opts.cachedir };
  throw new HaliteError('config.missing', `No migration is under way with the configuration in ${configDir}`);
}

export async function migrateBack(request: SwitchRequest): Promise<number> {
  const { migration } = underWay(request);
  const { old, own, configDir } = migration;
  if (request.dryRun) {
    request.print(
      `stop Halite: ${stopText(own)}\nstart Salt: ${startText(old, configDir)}\nask ${migration.before.length} minions\n`,
    );
    request.print('Nothing was changed: this is a dry run.\n');
    return exitCodes.ok;
  }
  return goBack(migration, request);
}

/** Ends a migration that is to stay, when its minions answer. */
export async function migrateDone(request: SwitchRequest): Promise<number> {
  const { migration, cachedir } = underWay(request);
  const verdicts = await verify(migration.own, migration.configDir, migration.before, {
    seconds: 15,
    say: request.say,
  });
  request.print(verdictText(verdicts));
  const lost = verdicts.filter(({ id, answers }) => !answers && migration.before.includes(id));
  if (lost.length > request.mostLost) {
    request.print(`${lost.length} minions do not answer: the migration stays under way.\n`);
    return exitCodes.generic;
  }
  if (!request.dryRun) removeMigration(cachedir);
  request.print(`The migration is done. Its backup is in ${migration.backup}.\n`);
  return exitCodes.ok;
}
