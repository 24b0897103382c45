// Runs beacons: each is opened once and read at its interval, independent of the others. One timer for all.

import type { PlainDict, Value } from '../../base/codec/value.ts';
import { newDict } from '../../base/codec/value.ts';
import { messageOf } from '../../base/errors/index.ts';
import { pyEquals } from '../../base/util/py-equals.ts';
import { withTimeout } from '../../base/util/with-timeout.ts';
import type { Loader } from '../../extend/loader/index.ts';
import type { BeaconContext, BeaconSession, ExtensionLog } from '../../extend/sdk/index.ts';
import { beaconTag } from '../../protocol/event/tags.ts';
import { prepareBeacon, type ReadyBeacon } from './validate.ts';

export interface RunnerHost {
  readonly id: () => string;
  readonly log: ExtensionLog;
  readonly loader: () => Loader;
  readonly context: (name: string, signal: AbortSignal) => BeaconContext;
  /** Milliseconds between two reads of a beacon without an interval. */
  readonly loopMs: () => number;
  /** Whether states are currently applied. */
  readonly stateRuns: () => Promise<boolean>;
  /** Events in the form of masters: `{tag, data, beacon_name}`. */
  readonly emit: (events: PlainDict[]) => void;
  /** A beacon with `run_once` has run. */
  readonly ranOnce: (name: string) => void;
}

interface Active {
  readonly name: string;
  readonly config: Value;
  readonly ready: ReadyBeacon;
  readonly periodMs: number;
  control: AbortController;
  session: BeaconSession | undefined;
  opening: Promise<BeaconSession> | undefined;
  due: number;
  reading: boolean;
}

/** The caller that configures a beacon waits until it is ready, but only for this time. */
const patienceMs = 5000;

const clock = (): number => performance.now();

export class BeaconRunner {
  readonly #host: RunnerHost;
  readonly #active = new Map<string, Active>();
  /** Beacon → the last reported problem, so that the same one is reported once. */
  readonly #said = new Map<string, string>();
  #changing: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(host: RunnerHost) {
    this.#host = host;
  }

  /** Sets the running beacons; unchanged ones continue without interruption. */
  configure(beacons: PlainDict): Promise<void> {
    this.#changing = this.#changing
      .then(() => this.#change(beacons))
      .catch((error: unknown) => this.#host.log.error('beacons could not be configured', { error: messageOf(error) }));
    return this.#changing;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#changing;
    await Promise.all([...this.#active.values()].map((item) => this.#close(item)));
    this.#active.clear();
  }

  async #change(beacons: PlainDict): Promise<void> {
    const wanted = new Map(beacons['enabled'] === false ? [] : Object.entries(beacons));
    wanted.delete('enabled');
    for (const [name, item] of this.#active) {
      const config = wanted.get(name);
      if (config !== undefined && pyEquals(config, item.config)) continue;
      this.#active.delete(name);
      await this.#close(item);
    }
    for (const name of this.#said.keys()) if (!wanted.has(name)) this.#said.delete(name);
    for (const [name, config] of wanted) if (!this.#active.has(name)) await this.#begin(name, config);
    this.#arm();
  }

  async #begin(name: string, config: Value): Promise<void> {
    const control = new AbortController();
    const ready = await prepareBeacon(this.#host.loader(), name, config, (of) =>
      this.#host.context(of, control.signal),
    );
    if ('problem' in ready) {
      this.#complain(name, ready.problem, `Beacon ${name} configuration invalid, not running.\n${ready.problem}`);
      return;
    }
    const { enabled, interval } = ready.settings;
    if (!enabled || this.#stopped) return;
    const periodMs = Math.max(interval === undefined ? this.#host.loopMs() : interval * 1000, 50);
    const due = clock() + (interval === undefined ? 0 : periodMs);
    const item: Active = {
      name,
      config,
      ready,
      periodMs,
      control,
      session: undefined,
      opening: undefined,
      due,
      reading: false,
    };
    this.#active.set(name, item);
    const opened = this.#open(item).catch((error: unknown) => this.#failed(item, error));
    await withTimeout(opened, patienceMs, () => undefined, { ref: false });
  }

  async #open(item: Active): Promise<BeaconSession> {
    if (item.session) return item.session;
    item.opening ??= this.#begun(item).finally(() => {
      item.opening = undefined;
    });
    return item.opening;
  }

  async #begun(item: Active): Promise<BeaconSession> {
    if (item.control.signal.aborted) item.control = new AbortController();
    const { control, ready, name } = item;
    const session = await ready.beacon.open(ready.settings.own, this.#host.context(name, control.signal));
    // Closed in the meantime, for example by a change of the configuration.
    if (control.signal.aborted) await session.close?.();
    else item.session = session;
    return session;
  }

  async #close(item: Active): Promise<void> {
    const { session } = item;
    item.session = undefined;
    item.control.abort();
    try {
      await session?.close?.();
    } catch (error) {
      this.#host.log.debug('a beacon could not be closed', { beacon: item.name, error: messageOf(error) });
    }
  }

  /** One timer, for the beacon that is due next. */
  #arm(): void {
    clearTimeout(this.#timer);
    const waiting = [...this.#active.values()].filter((item) => !item.reading && Number.isFinite(item.due));
    if (this.#stopped || waiting.length === 0) return;
    const next = Math.min(...waiting.map((item) => item.due));
    this.#timer = setTimeout(() => this.#look(), Math.max(0, next - clock()));
  }

  #look(): void {
    const now = clock();
    for (const item of this.#active.values()) {
      if (item.reading || item.due > now) continue;
      item.reading = true;
      item.due = Math.max(item.due + item.periodMs, now + item.periodMs / 2);
      void this.#read(item).finally(() => {
        item.reading = false;
        this.#arm();
      });
    }
    this.#arm();
  }

  async #read(item: Active): Promise<void> {
    const { name, ready } = item;
    try {
      if (ready.settings.disableDuringStateRun && (await this.#host.stateRuns())) {
        // Changes during a state run are ignored, so beacons that collect in between start again.
        if (item.session?.close) await this.#close(item);
        return;
      }
      const session = await this.#open(item);
      const found = await session.read();
      if (this.#active.get(name) !== item) return;
      if (this.#said.delete(name)) this.#host.log.info('the beacon works again', { beacon: name });
      if (found.length > 0) this.#host.emit(found.map((data) => this.#event(item, data)));
      if (ready.settings.runOnce) {
        // Also when it cannot be disabled, as in the pillar.
        item.due = Number.POSITIVE_INFINITY;
        this.#host.ranOnce(name);
      }
    } catch (error) {
      if (this.#active.get(name) === item) this.#failed(item, error);
    }
  }

  #event(item: Active, data: PlainDict): PlainDict {
    const id = this.#host.id();
    const { tag, ...rest } = data;
    const sent = newDict(Object.entries(rest));
    sent['id'] ??= id;
    const full = `${beaconTag(id, item.name)}${tag === undefined || tag === null ? '' : String(tag)}`;
    return newDict(Object.entries({ tag: full, data: sent, beacon_name: item.ready.settings.kind }));
  }

  #failed(item: Active, thrown: unknown): void {
    const error = messageOf(thrown);
    if (!this.#complain(item.name, error, `Unable to start ${item.name} beacon, ${error}`)) return;
    this.#host.emit([this.#event(item, newDict([['error', error]]))]);
  }

  /** True when the problem is new. */
  #complain(name: string, problem: string, text: string): boolean {
    if (this.#said.get(name) === problem) return false;
    this.#said.set(name, problem);
    this.#host.log.error(text, { beacon: name });
    return true;
  }
}
