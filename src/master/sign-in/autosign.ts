// Automatic acceptance and rejection: files of patterns, one-time markers and grains, as in Salt.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pyStr } from '../../base/codec/python/index.ts';
import { type Dict, dictGet, isDict } from '../../base/codec/value.ts';
import type { MasterOpts } from '../../base/config/index.ts';
import { matchesGlob } from '../../base/util/fnmatch.ts';
import { measure } from '../../base/util/measure.ts';
import { matchesWhole } from '../../base/util/pyregex.ts';
import type { KeyStore } from '../../store/keys.ts';

interface PatternOptions {
  readonly permissive_pki_access: boolean;
  readonly autoreject_file?: string | null;
}

/** True when a line of the file matches the id as glob (so also as plain text) or as a whole-id regular expression. */
function listed(file: string, id: string, permissive: boolean): boolean {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (!stat?.isFile()) return false;
  // A file that others may write is not trusted.
  if ((stat.mode & 0o002) !== 0 || (!permissive && (stat.mode & 0o020) !== 0)) return false;
  for (const raw of readFileSync(file, 'utf8').split(/\r?\n/)) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) continue;
    if (matchesGlob(id, line) || matchesWhole(id, line)) return true;
  }
  return false;
}

export function autoReject(opts: PatternOptions, id: string): boolean {
  return Boolean(opts.autoreject_file) && listed(String(opts.autoreject_file), id, opts.permissive_pki_access);
}

/** The sources that decide which new keys are accepted automatically. */
export interface AutosignParts {
  readonly opts: Pick<
    MasterOpts,
    'auto_accept' | 'autosign_file' | 'autosign_timeout' | 'autosign_grains_dir' | 'permissive_pki_access'
  >;
  readonly keys: Pick<KeyStore, 'consumeAutosign'>;
}

/** The rule that accepts this id, or false. */
export function autoSign({ opts, keys }: AutosignParts, id: string, grains: Dict | undefined): string | false {
  if (opts.auto_accept) return 'auto_accept';
  if (opts.autosign_file && listed(String(opts.autosign_file), id, opts.permissive_pki_access)) return 'autosign_file';
  if (keys.consumeAutosign(id, opts.autosign_timeout)) return 'minions_autosign';
  if (opts.autosign_grains_dir && isDict(grains) && grainAccepted(String(opts.autosign_grains_dir), grains))
    return 'autosign_grains';
  return false;
}

function grainAccepted(dir: string, grains: Dict): boolean {
  // The files determine which grains are checked: an unauthenticated peer may send any number of others.
  for (const name of namesIn(dir)) {
    const value = dictGet(grains, name);
    if (value === undefined || measure(value, acceptable) === undefined) continue;
    const accepted = readFileSync(join(dir, name), 'utf8')
      .split(/\r?\n/)
      .map((line) => line.trim())
      .filter((line) => line !== '' && !line.startsWith('#'));
    if (accepted.includes(pyStr(value))) return true;
  }
  return false;
}

/** A grain that fits on one line. */
const acceptable = { bytes: 65_536, depth: 10 };

function namesIn(dir: string): string[] {
  if (!statSync(dir, { throwIfNoEntry: false })?.isDirectory()) return [];
  const files = readdirSync(dir).filter((name) => /^[\w.:-]+$/.test(name) && !name.includes('..'));
  return files.filter((name) => statSync(join(dir, name), { throwIfNoEntry: false })?.isFile());
}
