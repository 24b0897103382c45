// The id of a minion whose configuration sets none: from the cache file, else from the host name.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import { dirname } from 'node:path';
import { dictSize, isDict, type PlainDict } from '../codec/value.ts';
import { HaliteError } from '../errors/index.ts';
import { generateMinionId, type HostFacts } from './host-names.ts';
import { defaultConfigDir, joinPath } from './paths.ts';
import type { ConfigReport } from './problems.ts';

export interface FoundId {
  readonly id: string;
  /** No domain is appended to an address. */
  readonly isAddress: boolean;
}

/** Salt: the file is in the system's configuration folder below `root_dir`, independent of `-c`. */
function minionIdFile(opts: PlainDict): string {
  const root = typeof opts['root_dir'] === 'string' ? opts['root_dir'] : '/';
  return joinPath(root, `${defaultConfigDir.slice(1)}/minion_id`);
}

export function findMinionId(opts: PlainDict, store: boolean, report: ConfigReport, facts?: HostFacts): FoundId {
  const file = minionIdFile(opts);
  const caching = opts['minion_id_caching'] !== false;
  const cached = caching ? readCachedId(file) : undefined;
  if (cached !== undefined) {
    report.note(`Using cached minion ID from ${file}: ${cached}`);
    return { id: cached, isAddress: false };
  }
  report.note(`Guessing ID. The id can be explicitly set in ${defaultConfigDir}/minion`);
  refuseIdFunction(opts);
  let id = generateMinionId(facts);
  if (opts['minion_id_lowercase'] === true) id = id.toLowerCase();
  id = withoutDomain(id, opts['minion_id_remove_domain']);
  report.note(`Found minion id from generate_minion_id(): ${id}`);
  if (store && caching) cacheId(file, id, report);
  return { id, isAddress: isIPv4(id) };
}

function readCachedId(file: string): string | undefined {
  try {
    const line = readFileSync(file, 'utf8').split('\n')[0] ?? '';
    const name = line.replace(/^\ufeff/, '').trim();
    return name !== '' && name !== 'localhost' ? name : undefined;
  } catch {
    return undefined;
  }
}

function cacheId(file: string, id: string, report: ConfigReport): void {
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, id);
  } catch (error) {
    report.add({ kind: 'value', level: 'error', file, message: `Could not cache minion ID: ${String(error)}` });
  }
}

/** A module function cannot run before the configuration is loaded. */
function refuseIdFunction(opts: PlainDict): void {
  const given = opts['id_function'];
  if (given === undefined || given === null || given === '' || (isDict(given) && dictSize(given) === 0)) return;
  throw new HaliteError('config.value', "The option 'id_function' is not supported", {
    hint: 'Set `id` in the minion configuration, or write the id into the file `minion_id`.',
    details: { option: 'id_function' },
  });
}

/** `true` removes any domain, text removes that domain. */
export function withoutDomain(id: string, which: unknown): string {
  if (which === true) return id.split('.')[0] ?? id;
  if (typeof which !== 'string' || which === '') return id;
  const suffix = `.${which}`;
  return id.toUpperCase().endsWith(suffix.toUpperCase()) ? id.slice(0, -suffix.length) : id;
}

/** A trailing dot means that the name is complete. */
export function withDomain(id: string, domain: string): string {
  return id.endsWith(domain) || id.endsWith('.') ? id : `${id}.${domain}`;
}
