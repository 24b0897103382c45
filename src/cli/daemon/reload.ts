// SIGHUP: the daemon reads its configuration again, takes what the option tables mark with `reload`, and names the rest.
import { isDeepStrictEqual } from 'node:util';
import type { PlainDict } from '../../base/codec/value.ts';
import { masterOptions, minionOptions } from '../../base/config/options/index.ts';
import type { OpenOpts } from '../../base/config/opts.ts';
import { messageOf } from '../../base/errors/index.ts';
import { granularLevels, type LogOpts, type RootLogger } from '../../base/log/index.ts';
import type { Settings } from '../settings.ts';

const isLive = (name: string): boolean =>
  masterOptions.get(name)?.reload === true || minionOptions.get(name)?.reload === true;

/** Names whose values in the files differ. */
function changedNames(before: PlainDict, after: PlainDict): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => !isDeepStrictEqual(before[name], after[name])).sort();
}

export class Reload<O extends OpenOpts & LogOpts> {
  readonly #running: O;
  readonly #log: RootLogger;
  readonly #read: () => Promise<Settings<O>>;
  #given: PlainDict;

  constructor(settings: Settings<O>, log: RootLogger, read: () => Promise<Settings<O>>) {
    this.#running = settings.opts;
    this.#given = settings.loaded.given;
    this.#log = log;
    this.#read = read;
  }

  /** Never throws: with a broken file the daemon goes on as it is. */
  async run(): Promise<void> {
    let fresh: Settings<O>;
    try {
      fresh = await this.#read();
    } catch (error) {
      this.#log.error('the configuration cannot be read, the daemon continues with the old one', {
        error: messageOf(error),
      });
      return;
    }
    for (const { level, message } of fresh.loaded.problems) this.#log.log(level, message);
    // Options of a file that cannot be read would count as removed, and with them what they forbid.
    if (fresh.loaded.problems.some(({ level }) => level === 'error')) {
      this.#log.error('the files have errors: nothing was taken over');
      return;
    }
    const changed = changedNames(this.#given, fresh.loaded.given);
    const taken = changed.filter(isLive);
    const later = changed.filter((name) => !isLive(name));
    this.#take(taken, fresh.opts);
    // What waits for a restart is named again at the next reload.
    for (const name of taken) copy(name, fresh.loaded.given, this.#given);
    if (taken.length > 0) this.#log.warn('changed options were taken over', { options: taken.join(', ') });
    if (later.length > 0) this.#log.warn('changed options need a restart', { options: later.join(', ') });
    if (changed.length === 0) this.#log.info('the configuration was read again: nothing has changed');
  }

  /** All parts of a daemon read the same object, and these options when they are needed. */
  #take(names: readonly string[], fresh: O): void {
    for (const name of names) copy(name, fresh.raw, this.#running.raw);
    const { log_level: level, log_level_logfile: levelLogfile, log_granular_levels: granular } = fresh;
    if (names.some((name) => name.startsWith('log_')))
      this.#log.setLevels({ level, levelLogfile, granular: granularLevels(granular) });
  }
}

function copy(name: string, from: PlainDict, to: PlainDict): void {
  const value = Object.hasOwn(from, name) ? from[name] : undefined;
  if (value === undefined) delete to[name];
  else to[name] = value;
}
