// Runs a job from the command line: sends it, prints the results, and reports the outcome with the exit code.
import type { ClientOpts } from '../../base/config/opts.ts';
import { exitCodes } from '../../base/util/exit-codes.ts';
import type { JobItem, LocalClient, LocalPublish } from '../../engine/client/api.ts';
import { commandLog } from '../command-log.ts';
import { chooseOutputter, type Display } from '../output.ts';
import { flagOption, type Settings, textOption } from '../settings.ts';
import { suggestionFor } from '../suggest.ts';
import { LiveProgress } from './live-progress.ts';
import { interruptText } from './missing.ts';
import { followJob } from './reattach.ts';
import { Tally } from './tally.ts';
import { batchView, docsView, type JobView, staticView, streamView, type ViewOptions } from './views.ts';

const structuredOutputters = new Set(['json', 'yaml', 'raw', 'pprint']);

type Mode = 'stream' | 'static' | 'batch' | 'docs' | 'group';

function modeOf(settings: Settings<ClientOpts>, call: LocalPublish): Mode {
  if (call.job.fun === 'sys.doc') return 'docs';
  if (flagOption(settings, 'group')) return 'group';
  if (flagOption(settings, 'static')) return 'static';
  return call.batch?.size ? 'batch' : 'stream';
}

async function viewFor(mode: Mode, options: ViewOptions, settings: Settings<ClientOpts>): Promise<JobView> {
  switch (mode) {
    case 'docs':
      return docsView(options, textOption(settings, 'output') !== '');
    case 'group':
      return (await import('./group.ts')).groupView(options);
    case 'static':
      return staticView(options);
    case 'batch':
      return batchView(options);
    default:
      return streamView(options);
  }
}

/** Ctrl-C leaves the job running and prints how to find it again. */
function onInterrupt(settings: Settings<ClientOpts>, tally: Tally, progress: LiveProgress): () => void {
  const interrupt = (): void => {
    progress.clear();
    settings.io.err(interruptText(tally));
    process.exit(130);
  };
  const terminate = (): void => process.exit(143);
  process.once('SIGINT', interrupt);
  process.once('SIGTERM', terminate);
  return () => {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', terminate);
  };
}

function viewOptions(settings: Settings<ClientOpts>, display: Display): ViewOptions {
  const verbose = flagOption(settings, 'verbose');
  return {
    display,
    io: settings.io,
    verbose,
    showJid: flagOption(settings, 'show_jid'),
    showMissing: verbose || settings.values['show_timeout'] !== false,
    explain: flagOption(settings, 'explain'),
    structured: structuredOutputters.has(chooseOutputter(undefined, settings.values)),
  };
}

/** Passes every item to the view, after erasing the progress line. */
class JobDisplay {
  mode: Mode;
  readonly tally = new Tally();
  readonly progress: LiveProgress;
  readonly #options: ViewOptions;
  #view: JobView;

  constructor(mode: Mode, view: JobView, options: ViewOptions, settings: Settings<ClientOpts>) {
    this.mode = mode;
    this.#view = view;
    this.#options = options;
    const [asked, never] = [flagOption(settings, 'progress'), flagOption(settings, 'no_progress')];
    this.progress = new LiveProgress({ asked, never, io: settings.io });
  }

  async take(item: JobItem): Promise<void> {
    const { tally, progress } = this;
    tally.add(item);
    if (item.type === 'progress') {
      progress.update({ text: `${item.id}: ${item.text}` });
      return;
    }
    if (item.type === 'job') {
      commandLog.note('info', `job ${item.jid}: ${item.minions.length} minions, ${item.missing.length} not connected`);
      progress.start(item.minions.length + item.missing.length);
    }
    progress.clear();
    if (item.type === 'batch' && this.mode === 'stream') this.#switchToBatch();
    await this.#view.item(item, tally);
    progress.update({ done: tally.returned.length + tally.missing });
  }

  async end(): Promise<void> {
    this.progress.end();
    await this.#view.end(this.tally);
  }

  /** --batch-safe-limit: the master found too many targets to run all at once. */
  #switchToBatch(): void {
    this.#options.io.out('\nNOTICE: Too many minions targeted, switching to batch execution.\n');
    this.mode = 'batch';
    this.#view = batchView(this.#options);
  }
}

export async function publishAndShow(
  client: LocalClient,
  settings: Settings<ClientOpts>,
  call: LocalPublish,
  display: Display,
): Promise<number> {
  const mode = modeOf(settings, call);
  const options = viewOptions(settings, display);
  const watch = new JobDisplay(mode, await viewFor(mode, options, settings), options, settings);
  const release = onInterrupt(settings, watch.tally, watch.progress);
  try {
    const { tally, progress } = watch;
    const following = { client, opts: settings.opts, call, tally, io: settings.io, clear: () => progress.clear() };
    try {
      for await (const item of followJob(following)) await watch.take(item);
    } catch (error) {
      // What came before the master ended is shown too.
      if (tally.sent) await watch.end();
      throw error;
    }
    await watch.end();
  } finally {
    watch.progress.clear();
    release();
  }
  const code = await conclude(settings, watch.tally, watch.mode);
  const { unknown } = watch.tally;
  if (unknown) settings.io.err(await suggestionFor('modules', unknown, settings.opts.raw));
  return code;
}

/** Summary, the line on stderr that scripts search for, and the exit code. */
async function conclude(settings: Settings<ClientOpts>, tally: Tally, mode: Mode): Promise<number> {
  const { io } = settings;
  if (mode === 'docs' && tally.returned.length === 0) {
    io.err('No minions found to gather docs from\n');
    return exitCodes.noReturn;
  }
  if (flagOption(settings, 'cli_summary') && mode !== 'docs' && textOption(settings, 'output') === '') {
    const { summaryText } = await import('./summary.ts');
    io.out(summaryText(tally, flagOption(settings, 'verbose')));
  }
  if (tally.empty) {
    io.err('ERROR: No return received\n');
    return exitCodes.noReturn;
  }
  if (tally.satisfied(textOption(settings, 'require'))) return exitCodes.ok;
  // Salt: a batch ends with the worst code of its minions.
  if (mode === 'batch') return tally.worst || exitCodes.generic;
  io.err('ERROR: Minions returned with non-zero exit code\n');
  return exitCodes.generic;
}
