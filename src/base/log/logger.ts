// Loggers: cheap when disabled, hierarchical by name, with any number of sinks.
import { jsonLine, messageText, stacksOf } from './fields.ts';
import type { Layout } from './format.ts';
import { type LogMethod, levelNumber, levels, methodLevels, printedLevel } from './levels.ts';
import { Limiter } from './limiter.ts';
import type { Fields } from './record.ts';
import type { Sink } from './sink.ts';

/** A sink with its own level and layout; `json` replaces the layout. */
export interface Output {
  level: number;
  readonly sink: Sink;
  readonly layout: Layout;
  readonly json: boolean;
}

/** A named logger. Messages are static text; variable parts are fields. */
export interface Logger {
  readonly name: string;
  garbage(message: string, fields?: Fields): void;
  trace(message: string, fields?: Fields): void;
  debug(message: string, fields?: Fields): void;
  profile(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
  critical(message: string, fields?: Fields): void;
  log(method: LogMethod, message: string, fields?: Fields): void;
  /**
   * At most one line per minute for the key; the next line gives the number of suppressed ones. For one message at most
   * a few dozen lines per minute over all keys: a last line gives the number of `others` that were suppressed.
   */
  limited(key: string, method: LogMethod, message: string, fields?: Fields): void;
  /** Whether a line of this level would be written; for fields that are expensive to compute. */
  enabled(method: LogMethod): boolean;
  /** The child logger: `log.child('auth')` of `salt.master` is `salt.master.auth`. */
  child(name: string): Logger;
  /** The same logger with fields added to every line. `jid` and `minion` are also available to the layouts. */
  with(fields: Fields): Logger;
}

/** Levels for single loggers, by name; the closest ancestor applies. */
export type GranularLevels = Readonly<Record<string, string | number>>;

/** The state all loggers of one program share. */
export class LogHub {
  readonly outputs: Output[];
  readonly #now: () => number;
  readonly #limiter: Limiter;
  readonly #jidLayout: string | null;
  readonly #minionLayout: string | null;
  #granular: ReadonlyMap<string, number>;
  #root = 0;
  /** Incremented when levels change, so that loggers recompute their threshold. */
  version = 0;

  constructor(
    outputs: Output[],
    granular: GranularLevels,
    options: { now?: () => number; jidLayout?: string | null; minionLayout?: string | null; limitMs?: number } = {},
  ) {
    this.outputs = outputs;
    this.#now = options.now ?? Date.now;
    this.#limiter = new Limiter(options.limitMs);
    this.#jidLayout = options.jidLayout === undefined ? '[JID: %(jid)s]' : options.jidLayout;
    this.#minionLayout = options.minionLayout === undefined ? '[%(minion_id)s]' : options.minionLayout;
    this.#granular = new Map();
    this.setGranular(granular);
  }

  setGranular(granular: GranularLevels): void {
    this.#granular = new Map(Object.entries(granular).map(([name, level]) => [name, levelNumber(level)]));
    this.changed();
  }

  /** As in Python, the root logger passes every record that any sink or single logger might accept. */
  changed(): void {
    this.#root = Math.min(...this.outputs.map((output) => output.level), ...this.#granular.values());
    this.version++;
  }

  /** Below this level no line of the named logger is written to any sink. */
  threshold(name: string): number {
    let own: number | undefined;
    for (let at = name; own === undefined && at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('.')))) {
      own = this.#granular.get(at);
    }
    return Math.max(own ?? this.#root, Math.min(...this.outputs.map((output) => output.level)));
  }

  admit(key: string): number | undefined {
    return this.#limiter.admit(key, this.#now());
  }

  /** Whether a line of this kind is suppressed; `summary` is called later with the number of such lines. */
  crowded(kind: string, summary: (others: number) => void): boolean {
    const { held, begins } = this.#limiter.crowded(kind, this.#now());
    if (begins) setTimeout(() => summary(this.#limiter.others(kind)), this.#limiter.period).unref();
    return held;
  }

  emit(name: string, method: LogMethod, text: string, fields: Fields | undefined): void {
    const level = methodLevels[method];
    const time = this.#now();
    let message: string | undefined;
    for (const { level: least, sink, layout, json } of this.outputs) {
      if (level < least) continue;
      if (json) {
        const head = { time: new Date(time).toISOString(), level: printedLevel(method), name, process: process.pid };
        sink.write(jsonLine(head, text, fields, least <= levels.debug), method);
        continue;
      }
      message ??= messageText(text, fields);
      const jid = label(this.#jidLayout, 'jid', fields?.['jid']);
      const minionId = label(this.#minionLayout, 'minion_id', fields?.['minion'] ?? fields?.['minion_id']);
      const line = layout({ time, method, name, message, jid, minionId, pid: process.pid });
      sink.write(least <= levels.debug ? line + stacksOf(fields) : line, method);
    }
  }
}

function label(layout: string | null, attribute: string, value: unknown): string {
  if (layout === null || value === undefined || value === null || value === '') return '';
  return layout.replace(`%(${attribute})s`, () => String(value).replace(/\p{C}/gu, '?'));
}

class NamedLogger implements Logger {
  readonly name: string;
  readonly #hub: LogHub;
  readonly #bound: Fields | undefined;
  #threshold = 0;
  #version = -1;

  constructor(hub: LogHub, name: string, bound?: Fields) {
    this.#hub = hub;
    this.name = name;
    this.#bound = bound;
  }

  garbage(message: string, fields?: Fields): void {
    this.log('garbage', message, fields);
  }
  trace(message: string, fields?: Fields): void {
    this.log('trace', message, fields);
  }
  debug(message: string, fields?: Fields): void {
    this.log('debug', message, fields);
  }
  profile(message: string, fields?: Fields): void {
    this.log('profile', message, fields);
  }
  info(message: string, fields?: Fields): void {
    this.log('info', message, fields);
  }
  warn(message: string, fields?: Fields): void {
    this.log('warn', message, fields);
  }
  error(message: string, fields?: Fields): void {
    this.log('error', message, fields);
  }
  critical(message: string, fields?: Fields): void {
    this.log('critical', message, fields);
  }

  log(method: LogMethod, message: string, fields?: Fields): void {
    if (!this.enabled(method)) return;
    const all = this.#bound ? { ...this.#bound, ...fields } : fields;
    this.#hub.emit(this.name, method, message, all);
  }

  limited(key: string, method: LogMethod, message: string, fields?: Fields): void {
    if (!this.enabled(method)) return;
    const suppressed = this.#hub.admit(key);
    if (suppressed === undefined) return;
    const kind = `${this.name} ${message}`;
    if (this.#hub.crowded(kind, (others) => this.log(method, message, { others }))) return;
    this.log(method, message, suppressed > 0 ? { ...fields, suppressed } : fields);
  }

  enabled(method: LogMethod): boolean {
    if (this.#version !== this.#hub.version) {
      this.#version = this.#hub.version;
      this.#threshold = this.#hub.threshold(this.name);
    }
    return methodLevels[method] >= this.#threshold;
  }

  child(name: string): Logger {
    return new NamedLogger(this.#hub, this.name === '' ? name : `${this.name}.${name}`, this.#bound);
  }

  with(fields: Fields): Logger {
    return new NamedLogger(this.#hub, this.name, { ...this.#bound, ...fields });
  }
}

export function namedLogger(hub: LogHub, name: string): Logger {
  return new NamedLogger(hub, name);
}
