// Combines command line, Saltfile and configuration, in this order of precedence.
import { existsSync, statSync } from 'node:fs';
import { asList, asText, newDict, type PlainDict, type Value } from '../base/codec/value.ts';
import { configDirOf } from '../base/config/load-files.ts';
import type { OpenOpts } from '../base/config/opts.ts';
import type { LoadedConfig, LoadRequest } from '../base/config/request.ts';
import { loadSaltfile, type Saltfile } from '../base/config/saltfile.ts';
import { type Terminal, terminal } from './io.ts';
import { type CommandSpec, defaultValues, type OptionValue, type ParsedCommandLine } from './optparse.ts';

export interface Settings<O extends OpenOpts> {
  readonly spec: CommandSpec;
  readonly opts: O;
  /** Option values by destination, after configuration and Saltfile. */
  readonly values: Readonly<Record<string, Value>>;
  /** Destinations set on the command line or in the Saltfile. */
  readonly explicit: ReadonlySet<string>;
  readonly args: readonly string[];
  readonly loaded: LoadedConfig<O>;
  readonly io: Terminal;
}

const yes = new Set(['True', 'true']);
const no = new Set(['False', 'false']);
const switches = new Set(['state_verbose', 'rotate_aes_key', 'preserve_minions']);

/** Adjustments that Salt's parsers make to some values. */
function refine(dest: string, value: Value): Value {
  if (switches.has(dest) && typeof value === 'string') {
    const word = dest === 'state_verbose' ? value : value.toLowerCase();
    return yes.has(word) ? true : no.has(word) ? false : value;
  }
  if (dest === 'no_parse') {
    return typeof value === 'string' && value !== '' ? value.split(',').map((name) => name.trim()) : [];
  }
  return value;
}

const plain = (value: OptionValue | undefined): Value => (value ?? null) as Value;

export interface SettingsRequest<O extends OpenOpts> {
  readonly spec: CommandSpec;
  readonly parsed: ParsedCommandLine;
  readonly load: (request: LoadRequest) => LoadedConfig<O>;
  /** Values that count as if they were in the files (`root_dir` moves paths). */
  readonly overrides?: Readonly<Record<string, Value>>;
  readonly io?: Terminal;
  /** Print nothing about the files: a daemon logs it. */
  readonly quiet?: boolean;
}

export function loadSettings<O extends OpenOpts>(request: SettingsRequest<O>): Settings<O> {
  const { spec, parsed } = request;
  const io = request.io ?? terminal;
  const saltfile = findSection(spec, parsed);
  const typed = newDict();
  for (const [dest, value] of Object.entries(saltfile?.options ?? {})) typed[dest] = refine(dest, value);
  for (const dest of parsed.explicit) typed[dest] = refine(dest, plain(parsed.values[dest]));
  const configDir = asText(typed['config_dir']);
  warnAboutFolder(configDirOf(configDir, process.env), io);
  const cli = newDict(Object.entries(typed).filter(([dest, value]) => value !== null && dest !== 'config_dir'));
  const loaded = request.load({
    ...(configDir === undefined ? {} : { configDir }),
    ...(saltfile ? { saltfile } : {}),
    ...(request.overrides ? { overrides: request.overrides } : {}),
    cli,
  });
  const explicit = new Set(Object.keys(typed));
  const values = finalValues(spec, typed, loaded.opts.raw);
  if (!request.quiet) report(loaded, String(values['log_level'] ?? 'warning'), io);
  return { spec, opts: loaded.opts, values, explicit, args: parsed.args, loaded, io };
}

function findSection(spec: CommandSpec, parsed: ParsedCommandLine): Saltfile | undefined {
  const named = parsed.values['saltfile'];
  return loadSaltfile({ command: spec.prog, ...(typeof named === 'string' ? { saltfile: named } : {}) });
}

function finalValues(spec: CommandSpec, typed: PlainDict, config: PlainDict): PlainDict {
  const values = newDict();
  for (const [dest, value] of Object.entries(defaultValues(spec))) {
    if (Object.hasOwn(typed, dest)) values[dest] = typed[dest] as Value;
    else if (dest !== 'config_dir' && Object.hasOwn(config, dest)) values[dest] = config[dest] as Value;
    else values[dest] = refine(dest, plain(value));
  }
  return values;
}

function warnAboutFolder(folder: string, io: Terminal): void {
  if (existsSync(folder) && statSync(folder).isDirectory()) return;
  io.err(`WARNING: CONFIG '${folder}' directory does not exist.\n`);
}

const talkative = new Set(['all', 'garbage', 'trace', 'debug', 'profile']);

/** Commands run often: only serious problems are printed by default, the daemons log the rest. */
function report(loaded: LoadedConfig<OpenOpts>, level: string, io: Terminal): void {
  if (level === 'quiet') return;
  const debug = talkative.has(level);
  if (debug) for (const note of loaded.notes) io.err(`[DEBUG   ] ${note}\n`);
  for (const problem of loaded.problems) {
    if (problem.level === 'error') io.err(`[ERROR   ] ${problem.message}\n`);
    else if (debug || level === 'info')
      io.err(`[${problem.level === 'warn' ? 'WARNING ' : 'INFO    '}] ${problem.message}\n`);
  }
}

/** A text option; '' and unset are the same in Salt. */
export function textOption(settings: Settings<OpenOpts>, dest: string): string {
  const value = settings.values[dest];
  return value === null || value === undefined ? '' : String(value);
}

export function flagOption(settings: Settings<OpenOpts>, dest: string): boolean {
  return settings.values[dest] === true;
}

export function numberOption(settings: Settings<OpenOpts>, dest: string): number {
  const value = Number(settings.values[dest] ?? 0);
  return Number.isFinite(value) ? value : 0;
}

/** Names given with --no-parse. */
export function noParseOf(settings: Settings<OpenOpts>): string[] {
  const names = settings.values['no_parse'];
  return (asList(names) ?? []).map(String);
}
