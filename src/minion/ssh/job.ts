// The program that salt-ssh runs on a target: one job, as salt-call runs it, with salt-ssh in the place of a master.
import { dictEntries, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { loadMinionConfig } from '../../base/config/minion.ts';
import type { MinionOpts } from '../../base/config/opts.ts';
import { messageOf } from '../../base/errors/index.ts';
import { createLoggerFromOpts, type RootLogger } from '../../base/log/index.ts';
import { keepHeapSmall } from '../../base/util/small-heap.ts';
import { pacedProgress } from '../../engine/exec/paced-progress.ts';
import { openCaller } from '../caller/caller.ts';
import { type CallFailure, type CallOutcome, callLocally } from '../caller/run.ts';
import type { LocalCallRequest } from '../caller/types.ts';
import { bringExtensions } from './extensions.ts';
import { deliverKept, keepResult } from './kept.ts';
import { SessionLink } from './link.ts';
import { readStart, type SshStart } from './start.ts';

const cancelled = 130;

const plainDict = (dict: SshStart['opts']): PlainDict =>
  newDict(dictEntries(dict).map(([name, value]): [string, Value] => [String(name), value]));

/** Nothing of this machine's own /etc/salt and /var counts: a minion may be installed here too. */
function optionsOf(start: SshStart, folder: string): MinionOpts {
  const root = `${folder}/running_data`;
  const { opts } = loadMinionConfig({
    configDir: `${root}/etc/salt`,
    minionId: start.id,
    overrides: Object.assign(plainDict(start.opts), { root_dir: root, sock_dir: '/' }),
    env: {},
  });
  return opts;
}

const doneMessage = (fields: Readonly<Record<string, Value | undefined>>): PlainDict =>
  newDict([
    ['t', 'done'],
    ...Object.entries(fields).filter((entry): entry is [string, Value] => entry[1] !== undefined),
  ]);

function resultMessage(result: CallOutcome | CallFailure): PlainDict {
  if (result.kind === 'failure')
    return doneMessage({ failed: true, stdout: result.stdout, stderr: result.stderr, retcode: result.exitCode });
  const { out, inOrder, funArgs, retcode } = result;
  return doneMessage({ return: result.return, retcode: retcode ?? 0, out, in_order: inOrder, fun_args: funArgs });
}

const failureMessage = (error: unknown): PlainDict =>
  doneMessage({ failed: true, stdout: '', stderr: `${messageOf(error)}\n`, retcode: 1 });

async function run(start: SshStart, folder: string, link: SessionLink): Promise<PlainDict> {
  let log: RootLogger | undefined;
  try {
    const opts = optionsOf(start, folder);
    log = createLoggerFromOpts(opts);
    await deliverKept(folder, link);
    if (start.extensions) await bringExtensions({ start, opts, log, link, folder });
    const progress = pacedProgress((text) => link.send(newDict(Object.entries({ t: 'progress', text }))));
    const request: LocalCallRequest = {
      ...{ opts, log, local: false, session: link, sendReturn: false, progress: progress.say, fun: start.fun },
      ...(start.words
        ? { words: start.words, noParse: start.noParse }
        : { args: start.args, kwargs: plainDict(start.kwargs) }),
    };
    const caller = await openCaller(request);
    const result = await callLocally(caller, request, start.jid);
    progress.end();
    return resultMessage(result);
  } catch (error) {
    return failureMessage(error);
  } finally {
    await log?.flush();
  }
}

/** Makes this process the job process of an SSH target. */
function startSshJob(folder: string): void {
  keepHeapSmall();
  // The end of the connection is not the end of the job: its result is kept for the next run.
  process.on('SIGHUP', () => undefined);
  process.on('SIGPIPE', () => undefined);
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  let busy = false;
  const link: SessionLink = new SessionLink({
    start(message) {
      if (busy) return;
      busy = true;
      void work(message);
    },
    // Commands of the job end with this process.
    cancel: () => process.exit(cancelled),
    lost: () => {
      if (!busy) process.exit(0);
    },
  });
  const work = async (message: PlainDict): Promise<void> => {
    let done: PlainDict;
    let start: SshStart | undefined;
    try {
      start = readStart(message);
      process.title = `salt-ssh job ${start.jid}`;
      done = await run(start, folder, link);
    } catch (error) {
      done = failureMessage(error);
    }
    const sent = await link.sendLast(done);
    if (!sent && start) await keepResult(folder, start, done).catch(() => undefined);
    process.exit(0);
  };
}

const [, , folder] = process.argv;
if (!folder) {
  process.stderr.write('This program is started by salt-ssh.\n');
  process.exit(64);
}
startSshJob(folder);
