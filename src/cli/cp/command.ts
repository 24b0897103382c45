// The command `salt-cp`: sends files with jobs of `cp.recv` or `cp.recv_chunked` and prints their results.
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { loadMasterConfig } from '../../base/config/master.ts';
import type { MasterOpts } from '../../base/config/opts.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { exitCodes } from '../../base/util/exit-codes.ts';
import type { LocalClient, LocalPublish } from '../../engine/client/api.ts';
import { connectLocal } from '../../engine/client/local.ts';
import { printHelp, readCommandLine, usageExit } from '../command-line.ts';
import { leaveOnSignals } from '../interrupt.ts';
import { type Terminal, terminal } from '../io.ts';
import { loadCommandSettings } from '../links.ts';
import { saltCpSpec } from '../options/salt-cp.ts';
import { Display } from '../output.ts';
import { outputOptions } from '../output-options.ts';
import { targetKind, targetList } from '../salt/arguments.ts';
import { missingText } from '../salt/missing.ts';
import { noMatch } from '../salt/no-match.ts';
import { flagOption, numberOption, type Settings, textOption } from '../settings.ts';
import { chunksOf, listTree, loadTexts, realPath, remotePath } from './files.ts';

interface CopyJob {
  readonly client: LocalClient;
  readonly base: Omit<LocalPublish['job'], 'fun' | 'arg'>;
  failed: boolean;
}

/** One job; the answer of every targeted minion, including those without an answer. */
async function publish(job: CopyJob, fun: string, arg: readonly Value[]): Promise<PlainDict> {
  const answers = newDict();
  let jid = '';
  for await (const item of job.client.publish({ job: { ...job.base, fun, arg } })) {
    if (item.type === 'job') jid = item.jid;
    else if (item.type === 'return') {
      answers[item.id] = item.ret;
      if (item.retcode !== 0) job.failed = true;
    } else if (item.type === 'missing') {
      answers[item.id] = missingText(item, jid, false);
      job.failed = true;
    }
  }
  return answers;
}

/** The result of every minion for every file; the first problem with a file stays. */
class Report {
  readonly byMinion = newDict();

  note(id: string, path: string, answer: Value): void {
    this.byMinion[id] ??= newDict();
    const files = this.byMinion[id] as PlainDict;
    if (files[path] === undefined || files[path] === true) files[path] = answer;
  }
}

/** As named arguments: minions would read a chunk that ends in `=` as a name without a value. */
const named = (args: Readonly<Record<string, Value>>): PlainDict =>
  newDict(Object.entries({ ...args, __kwarg__: true }));

async function sendChunks(
  job: CopyJob,
  settings: Settings<MasterOpts>,
  sources: string[],
  dest: string,
): Promise<PlainDict> {
  const { files, emptyFolders } = listTree(sources, settings.io);
  const size = Number(settings.opts.get('salt_cp_chunk_size') ?? 65536);
  const compress = settings.values['gzip'] !== false;
  const intoFolder = emptyFolders.length > 0 || files.size > 1 || /[\\/]$/.test(dest);
  const report = new Report();
  for (const [path, mode] of files) {
    const remote = remotePath(path, sources, dest, intoFolder);
    let append = false;
    for (const chunk of chunksOf(path, size, compress)) {
      const answers = await publish(job, 'cp.recv_chunked', [
        named({ dest: remote, chunk, append, compressed: compress, mode }),
      ]);
      for (const [id, answer] of Object.entries(answers)) report.note(id, remote, answer);
      append = true;
    }
  }
  for (const folder of emptyFolders) {
    const remote = remotePath(folder, sources, dest, intoFolder);
    const answers = await publish(job, 'cp.recv_chunked', [named({ dest: remote, chunk: null })]);
    for (const [id, answer] of Object.entries(answers)) report.note(id, remote, answer);
  }
  return report.byMinion;
}

async function copy(settings: Settings<MasterOpts>, target: string | string[], kind: string): Promise<number> {
  const { io } = settings;
  const sources = settings.args.slice(1, -1).map(realPath);
  const dest = settings.args.at(-1)!;
  const texts = flagOption(settings, 'chunked') ? undefined : loadTexts(sources, io);
  const client = await connectLocal(settings.opts);
  const release = leaveOnSignals(io);
  const base = {
    tgt: target,
    tgt_type: kind,
    timeoutSeconds: numberOption(settings, 'timeout'),
    delimiter: textOption(settings, 'delimiter'),
  };
  const job: CopyJob = { client, base, failed: false };
  try {
    const answers = texts
      ? await publish(job, 'cp.recv', [texts, dest])
      : await sendChunks(job, settings, sources, dest);
    await new Display(outputOptions(settings, { fun: 'cp.recv' }), io).show(answers, 'nested');
    return job.failed ? exitCodes.generic : exitCodes.ok;
  } catch (error) {
    if (!(error instanceof HaliteError) || error.code !== 'target.empty') throw error;
    io.out(`${noMatch}\n`);
    return exitCodes.noReturn;
  } finally {
    release();
    client.close();
  }
}

/** Runs `salt-cp` with these arguments and returns its exit code. */
export async function saltCp(argv: readonly string[], io: Terminal = terminal): Promise<number> {
  const spec = saltCpSpec();
  const parsed = await readCommandLine(spec, argv, io);
  const settings = await loadCommandSettings({ spec, parsed, load: loadMasterConfig, io });
  const [target] = settings.args;
  if (settings.args.length <= 1 || target === undefined) {
    await printHelp(spec, io);
    return usageExit(spec, 'Insufficient arguments', io);
  }
  const choice = targetKind(settings.values);
  if ('error' in choice) return usageExit(spec, choice.error, io);
  return copy(settings, choice.kind === 'list' ? targetList(target) : target, choice.kind);
}
