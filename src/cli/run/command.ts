// The command `salt-run`: asks the master to run a runner and prints its result.
import { textField } from '../../base/codec/fields.ts';
import { JsonText } from '../../base/codec/json/index.ts';
import { asText, dictGet, dictHas, dictSize, fieldOf, isDict, type Value } from '../../base/codec/value.ts';
import { parseInput } from '../../base/codec/yaml/cli-value.ts';
import { loadClientConfig } from '../../base/config/client.ts';
import { configDirOf } from '../../base/config/load-files.ts';
import type { ClientOpts } from '../../base/config/opts.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { exitCodes } from '../../base/util/exit-codes.ts';
import type { RunnerItem } from '../../engine/client/api.ts';
import { connectLocal } from '../../engine/client/local.ts';
import { readCommandLine, usageExit } from '../command-line.ts';
import { leaveOnSignals } from '../interrupt.ts';
import { type Terminal, terminal } from '../io.ts';
import { keepOrder } from '../keep-order.ts';
import { loadCommandSettings } from '../links.ts';
import type { LocalCall } from '../local-call.ts';
import { externalCaller } from '../login.ts';
import { saltRunSpec } from '../options/salt-run.ts';
import type { ParsedCommandLine } from '../optparse.ts';
import { Display } from '../output.ts';
import { outputOptions } from '../output-options.ts';
import { refuseOwnJid } from '../refusals.ts';
import { flagOption, noParseOf, type Settings, textOption } from '../settings.ts';
import { notThere, suggestionFor } from '../suggest.ts';

type RunnerResult = Extract<RunnerItem, { type: 'result' }>;

async function printDocs(settings: Settings<ClientOpts>, wanted: string): Promise<number> {
  const { functionDocs, stripMarkup } = await import('../docs.ts');
  const docs = await functionDocs('runners', wanted, settings.opts.raw);
  for (const name of Object.keys(docs).sort()) settings.io.out(`${name}:\n${stripMarkup(String(docs[name]))}\n`);
  return exitCodes.ok;
}

/** A runner may name its outputter next to its data; then only the data is printed. */
export function resultParts(result: RunnerResult): { data: Value | JsonText; out: string | undefined } {
  const { ret } = result;
  if (ret instanceof JsonText) return { data: ret, out: ret.facts.outputter ?? result.out };
  if (!isDict(ret)) return { data: ret, out: result.out };
  const outputter = textField(ret, 'outputter');
  if (dictSize(ret) === 2 && dictHas(ret, 'data') && outputter !== undefined) {
    return { data: dictGet(ret, 'data') ?? null, out: outputter };
  }
  return { data: ret, out: result.out ?? outputter };
}

/** The runner's own code, or the one in its result, where orchestrations put it. */
export function exitCodeOf(result: RunnerResult): number {
  const inside = (value: Value): number | undefined => {
    const code = fieldOf(value, 'retcode');
    return typeof code === 'number' ? code : undefined;
  };
  if (result.retcode !== 0) return result.retcode;
  const { ret } = result;
  // JSON text contains stored results of others, which do not affect the code.
  if (ret instanceof JsonText) return result.success ? exitCodes.ok : exitCodes.generic;
  const nested = isDict(ret) ? inside(dictGet(ret, 'data') ?? null) : undefined;
  const code = inside(ret) ?? nested ?? 0;
  return code === 0 && !result.success ? exitCodes.generic : code;
}

async function runRunner(settings: Settings<ClientOpts>, fun: string, words: readonly string[]): Promise<number> {
  const { io } = settings;
  const { args, kwargs } = parseInput(words, { noParse: noParseOf(settings) });
  if (flagOption(settings, 'dry_run')) kwargs['dry_run'] = true;
  const sql = textOption(settings, 'sql');
  if (sql) kwargs['sql'] = sql;
  const display = new Display(outputOptions(settings, { fun }), io);
  const client = await connectLocal(settings.opts, await externalCaller(settings));
  const release = leaveOnSignals(io);
  let jid = '';
  try {
    const background = flagOption(settings, 'async');
    for await (const item of client.runner(fun, args, kwargs, { async: background })) {
      if (item.type === 'progress') io.err(`${item.text}\n`);
      else if (item.type === 'print') io.out(`${item.text}\n`);
      else if (item.type === 'started') {
        jid = item.jid;
        if (background) announce(jid, io);
      } else if (item.type === 'result') {
        const { data, out } = resultParts(item);
        if (item.inOrder) keepOrder(data);
        if (!flagOption(settings, 'quiet')) await display.show(data, out, item.retcode);
        if (typeof data === 'string' && data.endsWith(notThere))
          io.err(await suggestionFor('runners', data, settings.opts.raw));
        return exitCodeOf(item);
      }
    }
    return exitCodes.ok;
  } catch (error) {
    throw jid !== '' && error instanceof HaliteError && error.code === 'wire.closed'
      ? endedWithMaster(fun, jid)
      : error;
  } finally {
    release();
    client.close();
  }
}

/** Unlike a job, a runner runs in the master. */
const endedWithMaster = (fun: string, jid: string): HaliteError =>
  new HaliteError('wire.closed', `The master ended, and the runner ${fun} (${jid}) with it`, {
    hint: 'Jobs that it started go on. When the master runs again, see them with: salt-run jobs.list_jobs',
  });

function announce(jid: string, io: Terminal): void {
  io.err(
    '[WARNING ] Running in asynchronous mode. Results of this execution may be collected by attaching to the master ' +
      'event bus or by examining the master job cache, if configured. ' +
      `This execution is running under tag salt/run/${jid}\n`,
  );
}

/** A procedure that runs in this process, with the folder that the configuration was read from. */
function localCall(settings: Settings<ClientOpts>, parsed: ParsedCommandLine, words: readonly string[]): LocalCall {
  const { args, kwargs } = parseInput(words, { noParse: noParseOf(settings) });
  const configDir = configDirOf(asText(parsed.values['config_dir']), process.env);
  return { configDir, args, kwargs, dryRun: flagOption(settings, 'dry_run'), io: settings.io };
}

/** Runs `salt-run` with these arguments and returns its exit code. */
export async function saltRun(argv: readonly string[], io: Terminal = terminal): Promise<number> {
  const spec = saltRunSpec();
  const parsed = await readCommandLine(spec, argv, io);
  const settings = await loadCommandSettings({ spec, parsed, load: loadClientConfig, io });
  const [fun = '', ...words] = settings.args;
  const doc = flagOption(settings, 'doc');
  if (doc && words.length > 0) return usageExit(spec, 'You can only get documentation for one method at one time', io);
  if (doc || fun === '') return printDocs(settings, fun);
  if (fun.startsWith('master.')) {
    const { isLocal, runLocal } = await import('../moving/command.ts');
    if (isLocal(fun)) return runLocal(fun, localCall(settings, parsed, words));
  }
  if (fun === 'bootstrap.minion') {
    const { bootstrapMinion } = await import('../bootstrap/minion.ts');
    return bootstrapMinion(fun, localCall(settings, parsed, words));
  }
  refuseOwnJid(settings);
  return runRunner(settings, fun, words);
}
