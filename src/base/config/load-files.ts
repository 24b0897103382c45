// Finds and reads the files of one configuration: main file, `default_include`, `include`.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { newDict, type PlainDict, type Value } from '../codec/value.ts';
import { isFile, isFolder, isReadable } from '../util/fs-facts.ts';
import { type ConfigCopy, includeConfig, type Origins } from './include.ts';
import { absolutePath, defaultConfigDir, expandHome, joinPath } from './paths.ts';
import type { ConfigReport } from './problems.ts';
import { readConfFile } from './read-file.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export type ConfigKind = 'master' | 'minion' | 'proxy';

export interface FileRequest {
  /** Name of the main file. */
  readonly kind: ConfigKind;
  readonly configDir?: string | undefined;
  readonly configFile?: string | undefined;
  readonly env: Environment;
  readonly defaultInclude: string;
  /** Whether a broken included file stops the program. */
  readonly strictIncludes: boolean;
  readonly copy?: ConfigCopy | undefined;
  /** Proxies have more files each: those of `default_include`, in a folder with the id. */
  readonly ownFilesOf?: string | undefined;
}

export interface FileLayer {
  readonly values: PlainDict;
  readonly origins: Origins;
  /** The requested path, from which includes are resolved; not always the file that was read. */
  readonly path: string;
}

/** The folder of `-c`, else of SALT_CONFIG_DIR, else the system's. */
export function configDirOf(given: string | undefined, env: Environment): string {
  return absolutePath(expandHome(given || env['SALT_CONFIG_DIR'] || defaultConfigDir));
}

/**
 * Reads one main file. Salt: the variable counts only while the path is the default one, and only when it names a
 * file.
 */
export function loadMainFile(
  path: string,
  fromEnv: string | undefined,
  defaultPath: string,
  report: ConfigReport,
): PlainDict {
  const chosen = path === defaultPath && fromEnv && isFile(fromEnv) ? fromEnv : path;
  if (!isFile(chosen)) copyTemplate(chosen, report);
  if (!isReadable(chosen)) {
    const there = existsSync(chosen);
    report.note(there ? `Configuration file cannot be read: ${chosen}` : `Missing configuration file: ${chosen}`);
    return newDict();
  }
  const values = readConfFile(chosen, report);
  values['conf_file'] = chosen;
  return values;
}

/** Salt: packages may ship `master.template`, whose first line is a header. */
function copyTemplate(path: string, report: ConfigReport): void {
  const template = `${path}.template`;
  if (!isFile(template)) return;
  report.note(`Writing ${path} based on ${template}`);
  const text = readFileSync(template, 'utf8');
  writeFileSync(path, text.slice(text.indexOf('\n') + 1));
}

/** Salt prints this warning before logging starts, so commands should write it to stderr immediately. */
function mainPath(request: FileRequest, report: ConfigReport): string {
  if (request.configFile) return absolutePath(expandHome(request.configFile));
  const folder = configDirOf(request.configDir, request.env);
  if (!isFolder(folder)) report.warn('missing', `CONFIG '${folder}' directory does not exist.`, { file: folder });
  return joinPath(folder, request.kind);
}

export function loadFiles(request: FileRequest, report: ConfigReport): FileLayer {
  const { kind, env } = request;
  const path = mainPath(request, report);
  const values = loadMainFile(path, variableOf(kind, env), joinPath(defaultConfigDir, kind), report);
  const origins: Origins = new Map();
  for (const name of Object.keys(values)) origins.set(name, String(values['conf_file'] ?? path));
  const strict = request.strictIncludes;
  const include = values['include'];
  const defaultInclude = values['default_include'] ?? request.defaultInclude;
  // Salt: an included option replaces the one of the main file as a whole.
  const add = (what: Value | undefined, verbose: boolean): void => {
    Object.assign(
      values,
      includeConfig({ include: what, from: path, verbose, strict, copy: request.copy }, report, origins),
    );
  };
  add(defaultInclude, false);
  add(include, true);
  const owner = values['id'] ?? request.ownFilesOf;
  if (request.ownFilesOf !== undefined) add(withFolder(String(defaultInclude), String(owner)), false);
  return { values, origins, path };
}

/** `proxy.d/*.conf` in a folder of one id: `proxy.d/<id>/*.conf`. */
export const withFolder = (pattern: string, id: string): string =>
  joinPath(joinPath(dirname(pattern), id), basename(pattern));

function variableOf(kind: ConfigKind, env: Environment): string | undefined {
  const direct = env[`SALT_${kind.toUpperCase()}_CONFIG`];
  if (direct) return direct;
  const folder = env['SALT_CONFIG_DIR'];
  return folder ? joinPath(folder, kind) : undefined;
}
