// What a clone will do, decided before anything is fetched or written: which file goes where, and why some do not.
import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { asList, asPlainDict, type Value } from '../../base/codec/value.ts';
import { dumpYaml } from '../../base/codec/yaml/index.ts';
import { findAccount } from '../../base/config/accounts.ts';
import type { MasterOpts } from '../../base/config/index.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { isInside } from '../../base/util/safe-join.ts';
import { isValidMinionId } from '../../base/util/valid-id.ts';
import { keyFiles, keyFolders, keyMode, keyPlace, stateFolders } from './key-files.ts';
import type { OldMaster } from './old-master.ts';
import { type Mapping, mapped } from './paths.ts';
import type { SourceFile } from './sources/source.ts';
import { movedFile, type Translation } from './translate.ts';

export interface Placement {
  readonly to: string;
  readonly mode: number;
  readonly file: SourceFile;
}

export interface Group {
  readonly what: string;
  readonly from: string;
  readonly to: string;
  readonly placements: readonly Placement[];
}

export interface Plan {
  readonly groups: readonly Group[];
  /** A file that no source has: the options that differ here. */
  readonly text: { readonly to: string; readonly content: string; readonly mode: number } | undefined;
  /** Keys of minions that the old master does not have in this state. */
  readonly removals: readonly string[];
  readonly refused: readonly string[];
  readonly notes: readonly string[];
  readonly owner: { readonly uid: number; readonly gid: number } | undefined;
  /** Options of the master as it will be here. */
  readonly opts: MasterOpts;
}

export interface PlanRequest {
  readonly old: OldMaster;
  readonly translation: Translation;
  readonly opts: MasterOpts;
  readonly configDir: string;
  readonly mappings: readonly Mapping[];
  readonly allow: readonly string[];
  readonly roots: boolean;
  /** Also what waits for returners; another master that goes on running would deliver it too. */
  readonly spool?: boolean;
}

/** Where a clone may write without being told: nothing there is run or read by other programs. */
const usual = ['/srv', '/etc/salt', '/var/cache/salt', '/var/lib/salt'];

/** The folders and files of the old master that are read, besides its configuration. */
export function wantedPaths({ old, roots, spool }: Pick<PlanRequest, 'old' | 'roots' | 'spool'>): string[] {
  const { opts } = old.config;
  const { cachedir } = opts;
  const beside = roots ? [...rootFolders(old).flatMap(({ folders }) => folders), ...singlePaths(old)] : [];
  return [
    ...keyFolders(old),
    ...['sessions', 'session-proofs', '.shared_keys'].map((name) => join(cachedir, name)),
    ...(spool ? [join(cachedir, 'spool')] : []),
    ...beside,
  ];
}

/** Paths of other options whose content a master needs. */
function singlePaths(old: OldMaster): string[] {
  const names = ['extension_modules', 'autosign_file', 'autoreject_file', 'autosign_grains_dir'];
  return names
    .map((name) => old.config.opts.raw[name])
    .filter((path): path is string => typeof path === 'string' && path.startsWith('/'));
}

interface Roots {
  readonly what: string;
  readonly folders: readonly string[];
  readonly notes: readonly string[];
}

export function rootFolders(old: OldMaster): Roots[] {
  return [
    ['file_roots', 'files'],
    ['pillar_roots', 'pillar'],
  ].flatMap(([option = '', what]) => {
    const environments = asPlainDict(old.config.opts.raw[option]) ?? {};
    return Object.entries(environments).map(([environment, value]: [string, Value]): Roots => {
      const paths = (asList(value) ?? []).filter(
        (path): path is string => typeof path === 'string' && path.startsWith('/'),
      );
      const plain = paths.filter((path) => !/[*?[]|__env__/.test(path));
      const notes = paths
        .filter((path) => !plain.includes(path))
        .map((path) => `${option} ${path} is a pattern: copy its folders yourself`);
      return { what: `${what} of ${environment}`, folders: plain.map((path) => path.replace(/(.)\/+$/, '$1')), notes };
    });
  });
}

export function makePlan(request: PlanRequest, listed: readonly SourceFile[]): Plan {
  const { old, translation, opts, configDir, mappings } = request;
  const keys = keyFiles(old, listed);
  const notes: string[] = [
    ...translation.reasons,
    ...old.config.problems.map(({ message }) => message),
    ...keys.notes,
    ...old.source.notes,
  ];
  const groups: Group[] = [];
  const add = (what: string, from: string, to: string, placements: readonly Placement[]): void => {
    if (placements.length > 0) groups.push({ what, from, to, placements });
  };
  const oldDir = old.source.configDir;
  const own = (file: SourceFile): Placement => ({
    file,
    to: join(configDir, relative(oldDir, file.path)),
    mode: file.mode & 0o755 & ~0o022,
  });
  add('configuration', oldDir, configDir, old.files.map(own));
  const [keyFolder = ''] = keyFolders(old);
  add(
    'keys',
    keyFolder,
    opts.pki_dir,
    keys.files.map(({ file, name }) => ({ file, to: keyPlace(opts.pki_dir, name), mode: keyMode(name, file.mode) })),
  );
  if (request.roots) {
    for (const roots of rootFolders(old)) {
      notes.push(...roots.notes);
      for (const folder of roots.folders)
        add(roots.what, folder, mapped(folder, mappings), below(listed, folder, mapped(folder, mappings)));
    }
    for (const path of singlePaths(old))
      add(basename(path), path, mapped(path, mappings), below(listed, path, mapped(path, mappings)));
  }
  const { cachedir } = old.config.opts;
  const secrets = listed.filter(({ path }) => isSecretOfCache(relative(cachedir, path)));
  add(
    'session keys',
    cachedir,
    opts.cachedir,
    secrets.map((file) => ({ file, to: join(opts.cachedir, relative(cachedir, file.path)), mode: 0o600 })),
  );
  if (request.spool) {
    const spool = join(opts.cachedir, 'spool');
    const waiting = below(listed, join(cachedir, 'spool'), spool);
    add(
      'for returners',
      join(cachedir, 'spool'),
      spool,
      waiting.map((item) => ({ ...item, mode: 0o600 })),
    );
  }
  const text =
    Object.keys(translation.values).length === 0
      ? undefined
      : {
          to: join(configDir, movedFile),
          content: `# What differs from the master that was cloned: ${old.source.name}\n${dumpYaml(translation.values)}`,
          // Values that contain a path may contain a secret too: nobody may read them who could not before.
          mode: old.files.reduce((mode, file) => mode & file.mode, 0o644) | 0o600,
        };
  const account = process.geteuid?.() === 0 ? findAccount(opts.user) : undefined;
  return {
    ...{ groups, text, opts, notes },
    owner: account && { uid: account.uid, gid: account.gid },
    removals: otherKeys(opts.pki_dir, new Set(keys.files.map(({ name }) => name))),
    refused: [...refusals(request, groups), ...badKey(keys.files, listed)],
  };
}

function below(listed: readonly SourceFile[], folder: string, to: string): Placement[] {
  return listed
    .filter(({ path }) => isInside(folder, path))
    .map((file) => ({ file, to: to + file.path.slice(folder.length), mode: file.mode & 0o755 & ~0o022 }));
}

/** Keys of sessions, so that no minion has to sign in again. */
function isSecretOfCache(name: string): boolean {
  if (name === '.shared_keys') return true;
  const folder = dirname(name);
  return (folder === 'sessions' || folder === 'session-proofs') && isValidMinionId(basename(name));
}

/** Keys of minions here that are not there, or in another state: with two states nobody knows which one counts. */
function otherKeys(pkiDir: string, names: ReadonlySet<string>): string[] {
  return stateFolders.flatMap((folder) => {
    const place = join(pkiDir, folder);
    const here = existsSync(place) ? readdirSync(place).filter((id) => isValidMinionId(id)) : [];
    return here.filter((id) => !names.has(`${folder}/${id}`)).map((id) => join(place, id));
  });
}

function refusals({ configDir, mappings, allow, translation, opts }: PlanRequest, groups: readonly Group[]): string[] {
  const wanted = ['pki_dir', 'cachedir']
    .map((name) => translation.values[name])
    .filter((path): path is string => typeof path === 'string');
  const may = [...usual, configDir, ...mappings.map(({ to }) => to), ...allow, ...wanted];
  const allowed = (to: string): boolean => may.some((folder) => isInside(folder, to));
  const how = (to: string): string => `say allow=${to} if that is right, or place=${to}:/another/folder`;
  const refused = groups
    .filter(({ to }) => !allowed(to))
    .map(({ what, to }) => `${what} would be written to ${to}: ${how(to)}`);
  // The history and the backups go there, also when no group does.
  if (!allowed(opts.cachedir)) refused.push(`the cachedir would be ${opts.cachedir}: ${how(opts.cachedir)}`);
  const seen = new Map<string, string>();
  for (const { placements } of groups) {
    for (const { to, file } of placements) {
      const other = seen.get(to);
      if (other !== undefined && other !== file.sha256) refused.push(`two different files would become ${to}`);
      seen.set(to, file.sha256);
    }
  }
  return refused;
}

function badKey(keys: readonly { readonly name: string }[], listed: readonly SourceFile[]): string[] {
  return listed.length > 0 && !keys.some(({ name }) => name === 'master.pub')
    ? ['the key folder has master.pem, but no master.pub']
    : [];
}

/** For errors that are better said before anything happens. */
export function checkPlan(plan: Plan): void {
  if (plan.refused.length === 0) return;
  throw new HaliteError('path.refused', `Nothing was changed:\n${plan.refused.map((line) => `  ${line}`).join('\n')}`);
}
