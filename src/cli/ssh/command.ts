// The command `salt-ssh`: functions and shell commands on hosts that run no minion.
import { asText, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { configDirOf } from '../../base/config/load-files.ts';
import { loadMasterConfig } from '../../base/config/master.ts';
import type { MasterOpts } from '../../base/config/opts.ts';
import { createLoggerFromOpts, type RootLogger } from '../../base/log/index.ts';
import { parseDuration } from '../../base/util/durations.ts';
import { exitCodes } from '../../base/util/exit-codes.ts';
import { generateJid } from '../../base/util/index.ts';
import { isJid } from '../../base/util/jid.ts';
import { callingUser } from '../../engine/client/local.ts';
import { resolveLinks } from '../../engine/exec/sdb-links.ts';
import type { RosterTarget } from '../../extend/sdk/index.ts';
import { openHistory, rawFunction } from '../../ssh/history.ts';
import { ensureKey } from '../../ssh/key-deploy.ts';
import { knownMinions } from '../../ssh/known-minions.ts';
import { Rosters } from '../../ssh/rosters.ts';
import { type SshJob, SshRun } from '../../ssh/run.ts';
import { readSettings, type SshSettings, usesKey } from '../../ssh/settings.ts';
import type { SshTarget } from '../../ssh/target.ts';
import { printHelp, readCommandLine, usageExit } from '../command-line.ts';
import { type Terminal, terminal } from '../io.ts';
import { loadLinkedSettings } from '../links.ts';
import { pythonOptions, saltSshSpec } from '../options/salt-ssh.ts';
import { Display } from '../output.ts';
import { outputOptions } from '../output-options.ts';
import { targetKind, targetList } from '../salt/arguments.ts';
import { flagOption, noParseOf, type Settings, textOption } from '../settings.ts';
import { showHosts } from './hosts.ts';
import { askForPassword } from './passwords.ts';
import { showResults } from './show.ts';
import { findTargets } from './targets.ts';

type Loaded = Settings<MasterOpts>;

interface Command {
  readonly settings: Loaded;
  readonly opts: PlainDict;
  readonly log: RootLogger;
  readonly ssh: SshSettings;
  readonly rosters: Rosters;
  readonly signal: AbortSignal;
}

async function readTargetOf(settings: Loaded): Promise<RosterTarget> {
  const choice = targetKind({ ...settings.values, list_hosts: false });
  if ('error' in choice) return usageExit(settings.spec, choice.error, settings.io);
  const [text = ''] = settings.args;
  return { tgt: choice.kind === 'list' ? targetList(text) : text, kind: choice.kind };
}

async function checkArguments(settings: Loaded): Promise<void> {
  const { spec, io, args } = settings;
  if (args.length >= 2 || flagOption(settings, 'list_hosts')) return;
  await printHelp(spec, io);
  await usageExit(spec, 'Insufficient arguments', io);
}

/** Options of the command are options of the master for this run. */
function mergedOptions(settings: Loaded, configDir: string): PlainDict {
  const opts = newDict(Object.entries(settings.opts.raw));
  for (const [name, value] of Object.entries(settings.values)) if (value !== null) opts[name] = value;
  // A list of rosters, or a name, from the configuration unless the command names one.
  if (!settings.explicit.has('roster') && settings.loaded.given['roster'])
    opts['roster'] = settings.loaded.given['roster'];
  opts['config_dir'] = configDir;
  return opts;
}

async function deadlineOf(settings: Loaded): Promise<number | undefined> {
  const text = textOption(settings, 'deadline');
  if (text === '') return undefined;
  try {
    return parseDuration(text) * 1000;
  } catch {
    return usageExit(
      settings.spec,
      `option --deadline: invalid time: '${text}'`,
      settings.io,
      'Write for example 90s, 5m or 2h.',
    );
  }
}

async function jobOf(settings: Loaded): Promise<SshJob> {
  const given = textOption(settings, 'jid');
  if (given !== '' && !isJid(given))
    await usageExit(settings.spec, `option --jid: '${given}' is not a job id`, settings.io);
  const deadlineMs = await deadlineOf(settings);
  const raw = flagOption(settings, 'raw_shell');
  const [, fun = '', ...words] = settings.args;
  return {
    ...{ jid: given || generateJid(), raw, fun: raw ? rawFunction : fun },
    ...{ words: raw ? [fun, ...words] : words, noParse: noParseOf(settings) },
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
  };
}

async function open(settings: Loaded, configDir: string, signal: AbortSignal): Promise<Command> {
  const opts = mergedOptions(settings, configDir);
  const log = createLoggerFromOpts({ ...logOptions(settings) });
  await askForPassword(settings, opts);
  const rosters = new Rosters({
    ...{ opts, log, signal, confined: false },
    knownMinions: (target) => knownMinions(settings.opts, target),
    secret: async (address) =>
      (await resolveLinks(newDict([['secret', address]]), ['secret'], opts, log))['secret'] ?? null,
  });
  return { settings, opts, log, ssh: readSettings(opts), rosters, signal };
}

/** The log file of salt-ssh, not that of the master. */
function logOptions({ opts, values }: Loaded): Parameters<typeof createLoggerFromOpts>[0] {
  const text = (name: string): string | null => asText(values[name]) ?? null;
  return {
    log_level: text('log_level') ?? 'warning',
    log_level_logfile: text('log_level_logfile'),
    log_file: text('ssh_log_file') ?? opts.ssh_log_file,
    ...{ log_format: opts.log_format, log_fmt_console: opts.log_fmt_console, log_fmt_logfile: opts.log_fmt_logfile },
    ...{ log_fmt_jid: opts.log_fmt_jid, log_fmt_minion_id: opts.log_fmt_minion_id, log_datefmt: opts.log_datefmt },
    ...{ log_datefmt_logfile: opts.log_datefmt_logfile, log_granular_levels: opts.log_granular_levels },
  };
}

function noteUnused({ settings, log }: Command): void {
  const given = pythonOptions.filter((name) => settings.explicit.has(name));
  if (given.length > 0) log.info('options about Python have no meaning here', { options: given.join(', ') });
}

async function runJob(command: Command, targets: readonly SshTarget[], target: RosterTarget): Promise<number> {
  const { settings, log, ssh, rosters, signal } = command;
  const { opts } = settings;
  const job = await jobOf(settings);
  if (targets.some(({ priv }) => priv === ssh.defaults.priv) && usesKey(ssh.defaults.priv))
    await ensureKey(ssh.defaults.priv);
  const history = await openHistory(opts, log);
  const display = new Display(outputOptions(settings, { fun: job.fun }), settings.io);
  let progress: (id: string, text: string) => void = () => undefined;
  const run = new SshRun({
    ...{ opts, log, settings: ssh, history, signal },
    onProgress: (id, text) => progress(id, text),
    find: (tgt, kind) => rosters.targets({ tgt, kind }, ssh.defaults),
  });
  try {
    const { tgt, kind } = target;
    const ids = targets.map(({ id }) => id);
    await history.job({ ...jobRecordOf(job), tgt, tgt_type: kind, user: callingUser() }, ids);
    return await showResults({ settings, run, job, targets, display, watch: (show) => (progress = show) });
  } finally {
    await run.close();
    await history.close();
  }
}

const jobRecordOf = ({ jid, fun, words = [] }: SshJob): { jid: string; fun: string; arg: Value[] } => ({
  ...{ jid, fun },
  arg: [...words],
});

async function work(command: Command): Promise<number> {
  const { settings, opts, log, rosters, ssh } = command;
  if (flagOption(settings, 'list_hosts')) {
    await showHosts(rosters, opts['roster'], new Display(outputOptions(settings), settings.io));
    return exitCodes.ok;
  }
  noteUnused(command);
  const target = await readTargetOf(settings);
  const updateRoster = flagOption(settings, 'ssh_update_roster');
  const targets = await findTargets({ rosters, defaults: ssh.defaults, log, updateRoster }, target);
  if (targets.length > 0) return runJob(command, targets, target);
  log.error('No matching targets found in roster.');
  return exitCodes.noReturn;
}

const interrupted = 130;

/** Runs `salt-ssh` with these arguments and returns its exit code. */
export async function saltSsh(argv: readonly string[], io: Terminal = terminal): Promise<number> {
  const spec = saltSshSpec();
  const parsed = await readCommandLine(spec, argv, io);
  const settings = await loadLinkedSettings({ spec, parsed, io, load: loadMasterConfig });
  await checkArguments(settings);
  const control = new AbortController();
  const interrupt = (): void => {
    io.err('\nExiting gracefully on Ctrl-c\n');
    control.abort();
  };
  process.once('SIGINT', interrupt);
  process.once('SIGTERM', interrupt);
  const command = await open(settings, configDirOf(asText(parsed.values['config_dir']), process.env), control.signal);
  try {
    const code = await work(command);
    return control.signal.aborted ? interrupted : code;
  } finally {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', interrupt);
    await command.log.flush();
    await command.log.close();
  }
}
