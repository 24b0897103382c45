// The options of a master or minion, one by one, and the extensions that they name.
import { isAbsolute } from 'node:path';
import { asList, asText, dictEntries, dictGet, dictKeys, isDict, type Value } from '../../../../base/codec/value.ts';
import { loadYamlWithPositions } from '../../../../base/codec/yaml/index.ts';
import {
  type LoadedConfig,
  loadMasterConfig,
  loadMinionConfig,
  type MasterOpts,
  type MinionOpts,
} from '../../../../base/config/index.ts';
import { HaliteError } from '../../../../base/errors/index.ts';
import type { Kind } from '../../../../extend/loader/kinds.ts';
import { type ConfigFiles, copyConfig } from '../../../moving/old-master.ts';
import { optionDifference } from './differences.ts';
import type { Entries } from './entry.ts';
import type { Installation } from './installation.ts';
import type { Names } from './names.ts';

export type Role = 'master' | 'minion';
export type Config = LoadedConfig<MasterOpts> | LoadedConfig<MinionOpts>;

/** The configuration of a role, from a copy: nothing else is read for it. Undefined when it has none. */
export async function readConfig(place: Installation, role: Role, scratch: string): Promise<ReadConfig | undefined> {
  const files = await copyConfig(place.source, role, `${scratch}/${role}`);
  if (files.files.length === 0) return undefined;
  const request = { configDir: files.copy.folder, copy: files.copy, env: {} };
  const config = role === 'master' ? loadMasterConfig(request) : loadMinionConfig(request);
  return { files, config };
}

export interface ReadConfig {
  readonly files: ConfigFiles;
  readonly config: Config;
}

/** Why a configuration cannot be read at all, with its line. */
export function refusedConfig(entries: Entries, role: Role, configDir: string, error: unknown): void {
  if (!(error instanceof HaliteError)) throw error;
  const line = error.details['line'];
  const where = typeof line === 'number' ? `${configDir}/${role}:${line}` : `${configDir}/${role}`;
  entries.add('configuration', role, 'missing', where, `cannot be used as it is: ${error.message.split('\n')[0]}`);
}

/** Where each option stands, by name: the last file that sets it counts. */
function linesOf(place: Installation, { files }: ReadConfig): Map<string, string> {
  const lines = new Map<string, string>();
  for (const { path } of files.files) {
    const text = place.read(path);
    if (text === undefined) continue;
    try {
      const { value, positions } = loadYamlWithPositions(text, { name: path });
      if (!isDict(value)) continue;
      for (const key of dictKeys(value)) lines.set(String(key), `${path}:${positions.lineOf([key]) ?? 1}`);
    } catch {
      // Loading the configuration has reported it.
    }
  }
  return lines;
}

/** Options that name extensions: which kind, and how. */
const named: Readonly<Record<string, { readonly kind: Kind; readonly names: (value: Value) => string[] }>> = {
  ext_pillar: { kind: 'pillars', names: keysOrTexts },
  master_job_cache: { kind: 'returners', names: texts },
  ext_job_cache: { kind: 'returners', names: texts },
  event_return: { kind: 'returners', names: texts },
  return: { kind: 'returners', names: texts },
  schedule_returner: { kind: 'returners', names: texts },
  beacons: { kind: 'beacons', names: beaconNames },
  external_auth: { kind: 'auth', names: keysOrTexts },
  master_tops: { kind: 'tops', names: keysOrTexts },
  outputter: { kind: 'outputters', names: texts },
  roster: { kind: 'rosters', names: texts },
  engines: { kind: 'engines', names: engineNames },
  module_executors: { kind: 'executors', names: texts },
  renderer: {
    kind: 'renderers',
    names: (value) => texts(value).flatMap((pipe) => pipe.split('|').map((part) => part.trim())),
  },
};
/** What the kinds are called in the report, and in folders. */
const words: Partial<Record<Kind, string>> = {
  pillars: 'external pillar',
  returners: 'returner',
  beacons: 'beacon',
  auth: 'login module',
  tops: 'master top',
  outputters: 'outputter',
  rosters: 'roster',
  engines: 'engine',
  executors: 'executor',
  renderers: 'renderer',
};

function texts(value: Value): string[] {
  const listed = typeof value === 'string' ? value.split(',') : (asList(value) ?? []).map((item) => asText(item) ?? '');
  return listed.map((name) => name.trim()).filter((name) => name !== '');
}

function keysOrTexts(value: Value): string[] {
  if (isDict(value)) return dictKeys(value).map(String);
  return (asList(value) ?? []).flatMap((item) => (isDict(item) ? dictKeys(item).map(String) : texts(item)));
}

/** `beacon_module` names the beacon behind a name of one's own. */
function beaconNames(value: Value): string[] {
  if (!isDict(value)) return [];
  return dictEntries(value).map(([name, settings]) => {
    for (const item of asList(settings) ?? []) {
      const module = isDict(item) ? asText(dictGet(item, 'beacon_module')) : undefined;
      if (module !== undefined) return module;
    }
    return String(name);
  });
}

/** `engine_module` names the engine behind a name of one's own. */
function engineNames(value: Value): string[] {
  const each = isDict(value) ? [value] : (asList(value) ?? []);
  return each.flatMap((item) =>
    isDict(item)
      ? dictEntries(item).map(
          ([name, settings]) => (isDict(settings) && asText(dictGet(settings, 'engine_module'))) || String(name),
        )
      : texts(item),
  );
}

const backendsHere = new Set(['roots', 'git', 'gitfs']);

export interface OptionsCheck {
  readonly place: Installation;
  readonly role: Role;
  readonly read: ReadConfig;
  readonly names: Names;
  readonly entries: Entries;
  /** Whether the installation has an extension of its own with that name. */
  own(kind: Kind, name: string): boolean;
}

export function checkOptions({ place, role, read, names, entries, own }: OptionsCheck): void {
  const { config } = read;
  const lines = linesOf(place, read);
  for (const [name, value] of Object.entries(config.given)) {
    if (name === 'conf_file') continue;
    const where = lines.get(name) ?? `${place.configDir}/${role}`;
    const problem = config.problems.find(({ option, level }) => option === name && level !== 'info');
    const noted = optionDifference(role, name, value);
    const label = `${role}: ${name}`;
    const why = problem && withAdvice(problem).replaceAll(read.files.copy.folder, place.configDir);
    if (problem?.kind === 'unsupported') entries.add('option', label, 'missing', where, why);
    else if (noted) entries.add('option', label, noted.verdict, where, noted.why);
    else if (problem) entries.add('option', label, problem.kind === 'unknown' ? 'unknown' : 'differs', where, why);
    else entries.add('option', label, 'works', where);
    const refers = Object.hasOwn(named, name) ? named[name] : undefined;
    for (const extension of refers?.names(value) ?? []) {
      const { kind } = refers!;
      if (kind === 'returners' && extension === 'local_cache') continue;
      const found = own(kind, extension) || names.extension(kind, extension);
      const what = words[kind] ?? kind;
      entries.add(
        what,
        extension,
        found ? 'works' : 'missing',
        where,
        found ? undefined : `there is no ${what} of this name`,
      );
    }
    if (name === 'fileserver_backend')
      for (const backend of texts(value)) {
        const known = backendsHere.has(backend);
        entries.add(
          'file backend',
          backend,
          known ? 'works' : 'missing',
          where,
          known ? undefined : 'use roots or git',
        );
      }
    if (name === 'gitfs_remotes' || name === 'git_pillar')
      entries.add(
        'files',
        name,
        'unknown',
        where,
        'the files are in git: check a working copy of them as file_roots too',
      );
  }
}

const withAdvice = ({ message, advice }: { message: string; advice?: string }): string =>
  advice === undefined ? message : `${message}; ${advice}`;

/** Folders of `file_roots` or `pillar_roots` that are on the disk. */
export function rootsOf(config: Config, option: 'file_roots' | 'pillar_roots'): string[] {
  const environments = config.opts.raw[option];
  if (!isDict(environments)) return [];
  return dictEntries(environments).flatMap(([, folders]) =>
    (asList(folders) ?? []).filter((path): path is string => typeof path === 'string' && isAbsolute(path)),
  );
}
