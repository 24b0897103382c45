// Rules that master and minion share for converting the values of the files to those that the daemon uses.
import { basename } from 'node:path';
import {
  asDict,
  type Dict,
  dictEntries,
  dictGet,
  isDict,
  newDict,
  type PlainDict,
  type Value,
} from '../codec/value.ts';
import { HaliteError } from '../errors/index.ts';
import { mergeRecurse } from '../util/deep-merge.ts';
import { joinPath } from './paths.ts';
import type { ConfigReport } from './problems.ts';
import { isPlainPath } from './root-dir.ts';

/** Salt: `log_dir` moves the log file. */
export function applyLogDir(given: PlainDict, defaultLogFile: string): void {
  const folder = given['log_dir'];
  if (typeof folder !== 'string' || folder === '') return;
  const file = given['log_file'];
  given['log_file'] = joinPath(folder, typeof file === 'string' && file !== '' ? file : basename(defaultLogFile));
}

/** `environment` is the old name of `saltenv`. */
export function applyEnvironment(opts: PlainDict, daemon: string, report: ConfigReport): void {
  if (!Object.hasOwn(opts, 'environment')) return;
  if (opts['saltenv'] !== null) {
    report.warn(
      'deprecated',
      `The 'saltenv' and 'environment' ${daemon} config options cannot both be used. Ignoring 'environment' in favor of 'saltenv'.`,
      { option: 'environment' },
    );
    opts['environment'] = opts['saltenv'] as Value;
    return;
  }
  report.warn(
    'deprecated',
    `The 'environment' ${daemon} config option has been renamed to 'saltenv'. Using ${String(opts['environment'])} as the 'saltenv' config value.`,
    { option: 'environment' },
  );
  opts['saltenv'] = opts['environment'] as Value;
}

/** Old names of file server back ends. */
export function renameBackends(opts: PlainDict): void {
  const old = new Set(['git', 'hg', 'svn', 'minion']);
  const list = opts['fileserver_backend'] as Value[];
  opts['fileserver_backend'] = list.map((name) => (old.has(String(name)) ? `${String(name)}fs` : name));
}

/** Unix socket paths have a short limit; Salt moves the sockets when the path is too long. */
export function shortenSockDir(opts: PlainDict): void {
  const cachedir = String(opts['cachedir']);
  if (String(opts['sock_dir']).length > cachedir.length + 10) opts['sock_dir'] = joinPath(cachedir, '.salt-unix');
}

export function fillModuleDirs(opts: PlainDict): void {
  opts['extension_modules'] ||= joinPath(String(opts['cachedir']), 'extmods');
  const utils = opts['utils_dirs'];
  if (!Array.isArray(utils) || utils.length === 0) {
    opts['utils_dirs'] = [joinPath(String(opts['extension_modules']), 'utils')];
  }
}

/** Log options that hold a path unless they name a syslog target. */
export function logPaths(opts: PlainDict, names: readonly string[]): string[] {
  return names.filter((name) => isPlainPath(opts[name]));
}

const tlsNames: Readonly<Record<string, readonly string[]>> = {
  cert_reqs: ['CERT_NONE', 'CERT_OPTIONAL', 'CERT_REQUIRED'],
  ssl_version: [
    'PROTOCOL_SSLv23',
    'PROTOCOL_TLS',
    'PROTOCOL_TLS_CLIENT',
    'PROTOCOL_TLS_SERVER',
    'PROTOCOL_TLSv1',
    'PROTOCOL_TLSv1_1',
    'PROTOCOL_TLSv1_2',
  ],
};

/** `false` means none, `true` means no settings; Python's constants stay names here. */
export function checkSsl(opts: PlainDict): void {
  const ssl = opts['ssl'];
  if (ssl === true) opts['ssl'] = newDict();
  else if (!isDict(ssl)) opts['ssl'] = null;
  else {
    for (const [key, names] of Object.entries(tlsNames)) {
      const value = dictGet(ssl, key);
      if (value === undefined || value === null || (typeof value === 'string' && names.includes(value))) continue;
      const list = names.join("', '");
      throw new HaliteError(
        'config.value',
        `SSL option '${key}' must be set to one of the following values: '${list}'.`,
      );
    }
  }
}

export function checkDiscovery(opts: PlainDict, isMinion: boolean): void {
  const given = opts['discovery'];
  if (given === undefined || given === null || given === false) return;
  const wanted: Dict = asDict(given) ?? newDict();
  const known: [string, Value][] = [
    ['attempts', 3],
    ['pause', 5],
    ['port', 4520],
    ['match', 'any'],
    ['mapping', newDict()],
  ];
  for (const [key] of dictEntries(wanted)) {
    if (known.some(([name]) => name === key)) continue;
    throw new HaliteError('config.value', `Unknown discovery option: ${String(key)}`);
  }
  const base = newDict(known.filter(([name]) => isMinion || name === 'port' || name === 'mapping'));
  opts['discovery'] = mergeRecurse(base, wanted, true);
}

const encryption = ['OAEP-SHA1', 'OAEP-SHA224'];
const signing = ['PKCS1v15-SHA1', 'PKCS1v15-SHA224'];

/** Refuses unknown algorithms, before they cause unreadable messages. */
export function checkAlgorithms(opts: PlainDict, names: { encryption?: string; signing?: string }): void {
  for (const [name, known] of [
    [names.encryption, encryption],
    [names.signing, signing],
  ] as const) {
    if (name === undefined || known.includes(String(opts[name]))) continue;
    throw new HaliteError('config.value', `The algorithm '${String(opts[name])}' of option '${name}' is not valid`, {
      hint: `Please specify one of ${known.join(',')}.`,
      details: { option: name },
    });
  }
}

/** `[{web: …}, {db: …}]` is read as one dict. */
export function repackDictList(value: Value): Value {
  if (!Array.isArray(value) || value.length === 0) return value;
  const one = value.every((item) => isDict(item) && dictEntries(item).length === 1);
  return one ? newDict(value.flatMap((item) => dictEntries(item as Dict)).map(([k, v]) => [String(k), v])) : value;
}

/** Names of options whose value is a reference to a secret store. */
export function deferredOptions(opts: PlainDict): string[] {
  return Object.keys(opts).filter((name) => {
    const own = Object.getOwnPropertyDescriptor(opts, name);
    return own !== undefined && 'value' in own && holdsLink(own.value as Value, 0);
  });
}

function holdsLink(value: Value, depth: number): boolean {
  if (typeof value === 'string') return value.startsWith('sdb://');
  if (depth > 32 || value === null || typeof value !== 'object') return false;
  if (Array.isArray(value)) return value.some((item) => holdsLink(item, depth + 1));
  return isDict(value) && dictEntries(value).some(([, item]) => holdsLink(item, depth + 1));
}
