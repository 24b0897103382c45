// The Saltfile: defaults for the command line, per command.
import { homedir } from 'node:os';
import {
  asText,
  type Dict,
  dictEntries,
  dictGet,
  isDict,
  newDict,
  type PlainDict,
  type Value,
} from '../codec/value.ts';
import { HaliteError } from '../errors/index.ts';
import { isFile } from '../util/fs-facts.ts';
import type { Environment } from './load-files.ts';
import { absolutePath, joinPath } from './paths.ts';
import { ConfigReport } from './problems.ts';
import { pyText } from './py-values.ts';
import { readConfFile } from './read-file.ts';

/** The section of one command. */
export interface Saltfile {
  readonly path: string;
  /** Options by their long name with underscores, such as `config_dir` or `out`. */
  readonly options: PlainDict;
}

export interface SaltfileRequest {
  /** Name of the program: `salt`, `salt-call`, … */
  readonly command: string;
  /** Path given with `--saltfile`. */
  readonly saltfile?: string;
  readonly env?: Environment;
  readonly cwd?: string;
  readonly home?: string;
}

/** Salt's order: `--saltfile`, SALT_SALTFILE, `./Saltfile`, `~/.salt/Saltfile`. */
export function findSaltfile(request: SaltfileRequest): string | undefined {
  const named = request.saltfile ?? (request.env ?? process.env)['SALT_SALTFILE'];
  if (named !== undefined && named !== '') {
    if (!isFile(named)) throw new HaliteError('cli.usage', `'${named}' file does not exist.`);
    return absolutePath(named);
  }
  if (named === '') return undefined;
  const home = joinPath(request.home ?? homedir(), '.salt/Saltfile');
  return [joinPath(request.cwd ?? workingFolder(), 'Saltfile'), home].find(isFile);
}

/** The working folder may have been deleted. */
function workingFolder(): string {
  try {
    return process.cwd();
  } catch {
    return '';
  }
}

/** The section for a command; undefined without a Saltfile or a section. */
export function loadSaltfile(request: SaltfileRequest): Saltfile | undefined {
  const path = findSaltfile(request);
  if (path === undefined) return undefined;
  const section = readConfFile(path, new ConfigReport())[request.command];
  if (!isDict(section)) return undefined;
  return { path, options: textKeys(section) };
}

function textKeys(dict: Dict): PlainDict {
  return newDict(dictEntries(dict).map(([key, value]): [string, Value] => [pyText(key), value]));
}

/** The folder that a Saltfile names, resolved relative to the working folder as in a shell. */
export function saltfileConfigDir(saltfile: Saltfile | undefined): string | undefined {
  const folder = saltfile && dictGet(saltfile.options, 'config_dir');
  return asText(folder);
}
