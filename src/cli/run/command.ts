// The command `salt-run`: asks the master to run a runner and prints its result.
import { textField } from '../../base/codec/fields.ts';
import { JsonText } from '../../base/codec/json/index.ts';
import { dictGet, dictHas, dictSize, fieldOf, isDict, type Value } from '../../base/codec/value.ts';
import { parseInput } from '../../base/codec/yaml/cli-value.ts';
import { loadClientConfig } from '../../base/config/client.ts';
import type { ClientOpts } from '../../base/config/opts.ts';
import { exitCodes } from '../../base/util/exit-codes.ts';
import type { RunnerItem } from '../../engine/client/api.ts';
import { connectLocal } from '../../engine/client/local.ts';
import { readCommandLine, usageExit } from '../command-line.ts';
import { leaveOnSignals } from '../interrupt.ts';
import { type Terminal, terminal } from '../io.ts';
import { keepOrder } from '../keep-order.ts';
import { loadCommandSettings } from '../links.ts';
import { saltRunSpec } from '../options/salt-run.ts';
import { Display } from '../output.ts';
import { outputOptions } from '../output-options.ts';
import { refuseExternalAuth, refuseOwnJid } from '../refusals.ts';
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
  const sql = textOption(settings, 'sql');
  if (sql) kwargs['sql'] = sql;
  const display = new Display(outputOptions(settings, { fun }), io);
  const client = await connectLocal(settings.opts);
  const release = leaveOnSignals(io);
  try {
    const background = flagOption(settings, 'async');
    for await (const item of client.runner(fun, args, kwargs, { async: background })) {
      if (item.type === 'progress') io.err(`${item.text}\n`);
      else if (item.type === 'print') io.out(`${item.text}\n`);
      else if (item.type === 'started' && background) announce(item.jid, io);
      else if (item.type === 'result') {
        const { data, out } = resultParts(item);
        if (item.inOrder) keepOrder(data);
        if (!flagOption(settings, 'quiet')) await display.show(data, out, item.retcode);
        if (typeof data === 'string' && data.endsWith(notThere))
          io.err(await suggestionFor('runners', data, settings.opts.raw));
        return exitCodeOf(item);
      }
    }
    return exitCodes.ok;
  } finally {
    release();
    client.close();
  }
}

function announce(jid: string, io: Terminal): void {
  io.err(
    '[WARNING ] Running in asynchronous mode. Results of this execution may be collected by attaching to the master ' +
      'event bus or by examining the master job cache, if configured. ' +
      `This execution is running under tag salt/run/${jid}\n`,
  );
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
  refuseExternalAuth(settings);
  refuseOwnJid(settings);
  return runRunner(settings, fun, words);
}
