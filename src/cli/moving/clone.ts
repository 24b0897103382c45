// `master.clone`: this machine becomes the master that another machine, a folder or an archive describes.

import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PlainDict } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { visibleLine } from '../../base/util/visible.ts';
import { Blobs } from './blobs.ts';
import { refuseRunningMaster } from './here.ts';
import { bringHistory, historyChanges } from './history/bring.ts';
import { type OldMaster, readOldMaster } from './old-master.ts';
import type { Mapping } from './paths.ts';
import { type Change, missing, place } from './place.ts';
import { checkPlan, makePlan, type Placement, type Plan, type PlanRequest, wantedPaths } from './plan.ts';
import { placedText, planText } from './report.ts';
import type { Source, SourceFile } from './sources/source.ts';
import { translate } from './translate.ts';

export interface CloneRequest {
  readonly source: Source;
  readonly configDir: string;
  readonly mappings: readonly Mapping[];
  readonly allow: readonly string[];
  /** Options that shall have other values here. */
  readonly wanted: PlainDict;
  readonly roots: boolean;
  readonly history: boolean;
  readonly spool?: boolean;
  readonly dryRun: boolean;
  /** A private folder of this command. */
  readonly scratch: string;
  say(text: string): void;
}

/** How often what changed meanwhile is fetched again. */
const passes = 3;

const allFiles = (plan: Plan): SourceFile[] =>
  plan.groups.flatMap(({ placements }) => placements.map(({ file }) => file));
const allPlacements = (plan: Plan): Placement[] => plan.groups.flatMap(({ placements }) => [...placements]);

export async function clone(request: CloneRequest): Promise<string> {
  const { source, configDir, dryRun, say } = request;
  say(`reading ${source.name}`);
  let old = await readOldMaster(source, request.scratch);
  refuseUnreadableKeys(old);
  const planned = async (): Promise<Plan> => {
    const translation = translate(old, request.mappings, request.wanted);
    const { opts } = old.withValues(translation.values);
    const asked: PlanRequest = { ...request, old, translation, opts };
    return makePlan(asked, await source.list(wantedPaths(asked)));
  };
  let plan = await planned();
  const text = planText(old, plan, configDir);
  if (dryRun) return `${text}Nothing was changed: this is a dry run.\n`;
  say(text);
  checkPlan(plan);
  await refuseRunningMaster(plan.opts, configDir, 'run master.clone');
  const blobs = new Blobs(join(plan.opts.cachedir, 'moving', 'blobs'));
  let late: SourceFile[] = [];
  for (let pass = 1; pass <= passes; pass++) {
    say(pass === 1 ? `fetching ${allFiles(plan).length} files` : `fetching what changed meanwhile (pass ${pass})`);
    await blobs.fetch(source, allFiles(plan));
    // The second pass: the old master may have accepted a key, or its files may have been edited, since the list was made.
    old = await readOldMaster(source, request.scratch);
    plan = await planned();
    late = allFiles(plan).filter(({ sha256 }) => !blobs.has(sha256));
    if (late.length === 0) break;
  }
  if (late.length > 0)
    throw new HaliteError(
      'call.failed',
      `${late.length} files change faster than they can be copied, for example ${visibleLine(late[0]?.path ?? '')}; nothing was changed`,
      {
        hint: 'Stop what writes them, and run the command again: what was fetched is kept.',
      },
    );
  checkPlan(plan);
  const target = join(plan.opts.cachedir, 'halite.db');
  mkdirSync(join(plan.opts.cachedir, 'moving'), { recursive: true, mode: 0o700 });
  const history = request.history
    ? await bringHistory(old, target, join(plan.opts.cachedir, 'moving'), blobs)
    : { text: 'history: left out, as you said' };
  const changes = changesOf(plan, blobs, join(plan.opts.cachedir, 'moving'));
  if ('file' in history && history.file) changes.push(...(await historyChanges(history.file, target, plan.owner)));
  say('putting everything in place');
  const placed = await place(plan.opts.cachedir, `clone of ${source.name} to ${configDir}`, changes);
  const wrong = await missing(changes);
  if (wrong.length > 0)
    throw new HaliteError(
      'call.failed',
      `${wrong.length} files are not what they should be, for example ${wrong[0]?.path}; run the command again`,
    );
  rmSync(join(plan.opts.cachedir, 'moving'), { recursive: true, force: true });
  return [
    `${history.text}\n`,
    placedText(placed),
    `The SHA-256 sums of all ${allFiles(plan).length} files are the same on both ends.\n`,
    `Next: start the master (systemctl start salt-master), then: halite doctor; salt-run master.compare ${source.name}\n`,
  ].join('');
}

function refuseUnreadableKeys(old: OldMaster): void {
  const driver = old.config.given['keys.cache_driver'];
  if (driver === undefined || driver === null || driver === 'localfs_key') return;
  throw new HaliteError(
    'config.value',
    `The keys of ${old.source.name} are not in files: keys.cache_driver is ${String(driver)}`,
    {
      hint: 'Print them there with: salt-key -P --out=json; write each to minions/<id> in the pki_dir, set keys.cache_driver: localfs_key, and run this again.',
    },
  );
}

function changesOf(plan: Plan, blobs: Blobs, scratch: string): Change[] {
  const { owner, text, removals } = plan;
  const changes: Change[] = allPlacements(plan).map(({ to, mode, file: { sha256 } }) => ({
    path: to,
    mode,
    owner,
    content: { file: blobs.path(sha256), sha256 },
  }));
  if (text) {
    const file = join(scratch, 'options');
    writeFileSync(file, text.content, { mode: 0o600 });
    changes.push({
      path: text.to,
      mode: text.mode,
      owner,
      content: { file, sha256: createHash('sha256').update(text.content).digest('hex') },
    });
  }
  // Removed last: a key must not be missing in between.
  for (const path of removals) changes.push({ path, mode: 0o600 });
  return changes;
}
