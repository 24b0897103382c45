// The command `salt-call`: runs a function on this machine and prints its result.
import { dictOf, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { parseCliYaml } from '../../base/codec/yaml/cli-value.ts';
import { loadMinionConfig } from '../../base/config/minion.ts';
import type { MinionOpts } from '../../base/config/opts.ts';
import { loadProxyConfig } from '../../base/config/proxy.ts';
import { createLoggerFromOpts, type RootLogger } from '../../base/log/index.ts';
import { exitCodes } from '../../base/util/exit-codes.ts';
import type { CallOutcome } from '../../minion/caller/run.ts';
import { printHelp, readCommandLine, usageExit } from '../command-line.ts';
import { leaveOnSignals } from '../interrupt.ts';
import { type Terminal, terminal } from '../io.ts';
import { keepOrder } from '../keep-order.ts';
import { loadLinkedSettings } from '../links.ts';
import { saltCallSpec } from '../options/salt-call.ts';
import { Display } from '../output.ts';
import { outputOptions } from '../output-options.ts';
import { flagOption, noParseOf, type Settings, textOption } from '../settings.ts';
import { notThere, suggestionFor } from '../suggest.ts';
import { becomeUser } from '../user.ts';
import { applyCallOptions, isLocal } from './options.ts';

interface CallSession {
  readonly settings: Settings<MinionOpts>;
  readonly log: RootLogger;
}

/** YAML output must stay valid YAML even with log lines in between. */
function openLog(settings: Settings<MinionOpts>): RootLogger {
  const yaml = textOption(settings, 'output') === 'yaml';
  const { opts } = settings;
  return createLoggerFromOpts(opts, {
    ...(yaml ? { fmtConsole: `# ${opts.log_fmt_console}` } : {}),
  });
}

async function printDocs({ settings }: CallSession, wanted: string): Promise<number> {
  const { functionDocs } = await import('../docs.ts');
  const docs = await functionDocs('modules', '', settings.opts.raw);
  for (const name of Object.keys(docs).sort()) {
    if (name.startsWith(wanted)) settings.io.out(`${name}:\n${String(docs[name])}\n\n`);
  }
  return exitCodes.ok;
}

async function printGrains({ settings, log }: CallSession): Promise<number> {
  const { openCaller } = await import('../../minion/caller/caller.ts');
  const caller = await openCaller({ opts: settings.opts, log, local: true });
  try {
    await new Display(outputOptions(settings), settings.io).show(dictOf([['local', caller.grains]]), 'nested');
  } finally {
    caller.close();
  }
  return exitCodes.ok;
}

/** --metadata shows everything about the call, not only what the function returned. */
function fullResult(
  settings: Settings<MinionOpts>,
  fun: string,
  outcome: CallOutcome,
  metadata: Value | undefined,
): PlainDict {
  return newDict([
    ['jid', outcome.jid],
    ['return', outcome.return],
    ['retcode', outcome.retcode ?? null],
    ...(outcome.out ? [['out', outcome.out] as const] : []),
    ['id', settings.opts.id],
    ['fun', fun],
    ['fun_args', outcome.funArgs],
    ...(metadata === undefined ? [] : [['metadata', metadata] as const]),
  ]);
}

function exitCodeOf(settings: Settings<MinionOpts>, retcode: number | undefined): number {
  if (flagOption(settings, 'retcode_passthrough')) return (retcode ?? exitCodes.generic) & 0xff;
  return retcode === 0 ? exitCodes.ok : exitCodes.generic;
}

async function callFunction({ settings, log }: CallSession, fun: string, words: readonly string[]): Promise<number> {
  const { io } = settings;
  const { runLocalCall } = await import('../../minion/caller/caller.ts');
  const given = textOption(settings, 'metadata');
  const metadata = given === '' ? undefined : (parseCliYaml(given) as Value);
  const outcome = await runLocalCall({
    opts: settings.opts,
    log,
    local: isLocal(settings),
    fun,
    words,
    noParse: noParseOf(settings),
    ...(metadata === undefined ? {} : { metadata }),
    sendReturn: !flagOption(settings, 'no_return_event'),
  });
  await log.flush();
  if (outcome.kind === 'failure') {
    io.err(outcome.stderr);
    io.out(outcome.stdout);
    if (outcome.stderr.includes(notThere)) io.err(await suggestionFor('modules', outcome.stderr, settings.opts.raw));
    return outcome.exitCode;
  }
  const all = flagOption(settings, 'print_metadata');
  const shown = all ? fullResult(settings, fun, outcome, metadata) : outcome.return;
  const display = new Display(outputOptions(settings, { fun }), io);
  const result = dictOf([['local', shown]]);
  if (outcome.inOrder) keepOrder(result);
  await display.show(result, all ? 'nested' : outcome.out, outcome.retcode ?? 0);
  return exitCodeOf(settings, outcome.retcode);
}

async function checkArguments(settings: Settings<MinionOpts>): Promise<void> {
  const { spec, io, args } = settings;
  const [grains, doc] = [flagOption(settings, 'grains_run'), flagOption(settings, 'doc')];
  if (args.length === 0 && !grains && !doc) {
    await printHelp(spec, io);
    await usageExit(spec, 'Requires function, --grains or --doc', io);
  }
  if (args.length > 0 && grains) await usageExit(spec, '-g/--grains does not accept any arguments', io);
  if (args.length > 1 && doc) await usageExit(spec, 'You can only get documentation for one method at one time', io);
}

/** Runs `salt-call` with these arguments and returns its exit code. */
export async function saltCall(argv: readonly string[], io: Terminal = terminal): Promise<number> {
  const spec = saltCallSpec();
  const parsed = await readCommandLine(spec, argv, io);
  const { id, proxyid: proxyId } = parsed.values;
  const settings = await loadLinkedSettings({
    spec,
    parsed,
    io,
    load: (request) =>
      typeof proxyId === 'string' ? loadProxyConfig(request, proxyId) : loadMinionConfig({ ...request, cacheId: true }),
    ...(typeof id === 'string' && id !== '' ? { overrides: { id } } : {}),
  });
  await checkArguments(settings);
  applyCallOptions(settings);
  becomeUser(settings.opts.user);
  const session = { settings, log: openLog(settings) };
  const release = leaveOnSignals(io);
  const [fun = '', ...words] = settings.args;
  try {
    if (flagOption(settings, 'doc')) return await printDocs(session, fun);
    if (flagOption(settings, 'grains_run')) return await printGrains(session);
    return await callFunction(session, fun, words);
  } finally {
    release();
    await session.log.close();
  }
}
