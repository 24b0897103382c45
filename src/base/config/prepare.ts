// The first half of every load: reads the files, adds overrides, checks types.
import { newDict, type PlainDict } from '../codec/value.ts';
import type { Origins } from './include.ts';
import { type ConfigKind, type Environment, loadFiles } from './load-files.ts';
import type { OptionRow } from './options/row.ts';
import { defaultsOf } from './opts.ts';
import { ConfigReport } from './problems.ts';
import type { LoadRequest } from './request.ts';
import { saltfileConfigDir } from './saltfile.ts';
import { applyLogDir } from './shape.ts';
import { reportUnsupported } from './unsupported-options.ts';
import { checkOptions, type Vocabulary } from './validate.ts';

export interface Prepared {
  readonly report: ConfigReport;
  readonly env: Environment;
  /** The values that files and overrides set, converted to their types. */
  readonly given: PlainDict;
  /** Defaults, overridden by the given values. */
  readonly opts: PlainDict;
  /** The requested main file. */
  readonly path: string;
}

/** What proxies have instead of the defaults of minions, and whose files are read. */
export interface ProxyFiles {
  readonly id: string;
  readonly defaults: Readonly<PlainDict>;
}

export function prepare(
  kind: ConfigKind,
  request: LoadRequest,
  words: Vocabulary,
  strictIncludes: boolean,
  proxy?: ProxyFiles,
): Prepared {
  const report = new ConfigReport();
  const env = request.env ?? process.env;
  const defaults = Object.assign(defaultsOf(words.own), proxy?.defaults);
  const files = loadFiles(
    {
      kind,
      configDir: request.configDir ?? saltfileConfigDir(request.saltfile),
      configFile: request.configFile,
      env,
      defaultInclude: String(defaults['default_include']),
      strictIncludes,
      copy: request.copy,
      ownFilesOf: proxy?.id,
    },
    report,
  );
  Object.assign(files.values, request.overrides);
  wrapTexts(files.values);
  const given = checkOptions(files.values, words, files.origins, report);
  reportUnsupported(kind === 'master' ? kind : 'minion', given, report);
  applyLogDir(given, String(defaults['log_file']));
  return { report, env, given, path: files.path, opts: Object.assign(defaults, given) };
}

/** A single pattern may be written without a list. */
function wrapTexts(values: PlainDict): void {
  for (const name of ['file_ignore_regex', 'file_ignore_glob']) {
    const value = values[name];
    if (typeof value === 'string') values[name] = value === '' ? [] : [value];
  }
}

/** Applies Saltfile options that are configuration options too, then the command line, to the finished options. */
export function applyCommandLine(
  opts: PlainDict,
  request: LoadRequest,
  rows: ReadonlyMap<string, OptionRow>,
  report: ConfigReport,
): void {
  const origins: Origins = new Map();
  const fromFile = newDict();
  for (const [name, value] of Object.entries(request.saltfile?.options ?? {})) {
    if (!rows.has(name)) continue;
    fromFile[name] = value;
    origins.set(name, request.saltfile?.path ?? '');
  }
  Object.assign(opts, checkOptions(fromFile, { own: rows, other: rows }, origins, report), request.cli);
}
