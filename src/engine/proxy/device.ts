// One proxied device: its session, one call after the other, and what becomes of a driver that fails or hangs.
import { AsyncLocalStorage } from 'node:async_hooks';
import { packValue } from '../../base/codec/msgpack/index.ts';
import { asList, asPlainDict, asText, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { HaliteError, messageOf, PythonEnded } from '../../base/errors/index.ts';
import { withTimeout } from '../../base/util/with-timeout.ts';
import type { ExtensionLog, ProxyContext, ProxySession, ProxyType } from '../../extend/sdk/index.ts';
import { proxyTypeOf } from '../../extend/sdk/proxies.ts';
import { createContext, type Runtime } from '../exec/index.ts';

export interface DeviceParts {
  readonly log: ExtensionLog;
  /** Of this moment: grains and pillar change. */
  readonly runtime: () => Runtime;
  /** The session ended by itself: somebody should open it again. */
  readonly lost: (why: string) => void;
}

interface Open {
  readonly session: ProxySession;
  readonly control: AbortController;
}

const mostWaiting = 1000;
const mostAnswerBytes = 64 << 20;
const longestCloseMs = 10_000;
/** The device whose call is running: what it calls in turn does not wait for itself. */
const running = new AsyncLocalStorage<Device>();

export class Device {
  readonly #parts: DeviceParts;
  #type: ProxyType | undefined;
  #open: Open | undefined;
  #connecting: AbortController | undefined;
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;

  constructor(parts: DeviceParts) {
    this.#parts = parts;
  }

  /** The packed answer to a request: `{func: 'call', fun, args, kwargs}` and so on. */
  async answer(request: PlainDict): Promise<Uint8Array> {
    const value = await this.#answer(request);
    let packed: Uint8Array;
    try {
      packed = packValue(value);
    } catch (error) {
      throw new HaliteError('call.failed', `The device's answer cannot be passed on: ${messageOf(error)}`);
    }
    if (packed.length <= mostAnswerBytes) return packed;
    throw new HaliteError(
      'codec.limit',
      `The device's answer has ${packed.length} bytes, more than ${mostAnswerBytes}`,
    );
  }

  /** Ends the session whatever it is doing. */
  async close(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    if (!open) return;
    try {
      await withTimeout(Promise.resolve(open.session.close()), longestCloseMs, () => undefined);
    } catch (error) {
      this.#parts.log.warn('the connection to the device was not closed properly', { error: messageOf(error) });
    } finally {
      open.control.abort();
    }
  }

  async #answer(request: PlainDict): Promise<Value> {
    const fun = asText(request['fun']) ?? '';
    switch (request['func']) {
      case 'open':
        return this.#inTurn(async () => {
          await this.close();
          await this.#connect();
          return Object.keys(this.#functions()).sort();
        });
      case 'names':
        return Object.keys(this.#functions()).sort();
      case 'has':
        return Object.hasOwn(this.#functions(), fun);
      case 'call':
        return this.#inTurn(() => this.#call(fun, asList(request['args']) ?? [], asPlainDict(request['kwargs'])));
      case 'reconnect':
        return this.#inTurn(() => this.#reconnect());
      default:
        throw new HaliteError('call.unknown', `No such request to a device: ${String(request['func'])}`);
    }
  }

  #functions(): ProxySession['functions'] {
    return this.#open?.session.functions ?? {};
  }

  async #call(fun: string, args: readonly Value[], kwargs = newDict()): Promise<Value> {
    if (!this.#open) await this.#connect();
    const functions = this.#functions();
    if (!Object.hasOwn(functions, fun))
      throw new HaliteError('call.unknown', `The proxy type ${this.#type?.name ?? ''} has no function ${fun}`);
    const value = (await functions[fun]!(args, kwargs)) ?? null;
    // The connection is kept unless the configuration says otherwise.
    if (
      this.#parts.runtime().opts()['proxy_always_alive'] === false &&
      running.getStore() === this &&
      this.#waiting <= 1
    )
      await this.close();
    return value;
  }

  /** Salt's `status.proxy_reconnect`. */
  async #reconnect(): Promise<boolean> {
    const { opts } = this.#parts.runtime();
    if (this.#open) {
      if (!Object.hasOwn(this.#functions(), 'alive')) return false;
      if (opts()['proxy_always_alive'] === false || (await this.#isAlive())) return true;
      this.#parts.log.warn('the device is not alive: connecting again');
      await this.close();
    }
    await this.#connect();
    return true;
  }

  async #isAlive(): Promise<boolean> {
    try {
      const answer = await this.#functions()['alive']!([], newDict());
      return answer !== false && answer !== null;
    } catch (error) {
      this.#parts.log.info('the device does not say whether it is alive', { error: messageOf(error) });
      return false;
    }
  }

  async #connect(): Promise<void> {
    const runtime = this.#parts.runtime();
    const opts = runtime.opts();
    const name = proxyTypeOf(opts) ?? '';
    const found = await runtime.loader.get('proxies', name);
    if (!found) {
      const why = runtime.loader.reason('proxies', name);
      throw new HaliteError('extension.unavailable', `The proxy type ${name} is not available${why ? `: ${why}` : ''}`);
    }
    this.#type = found.extension;
    const control = new AbortController();
    this.#connecting = control;
    const settings = asPlainDict(opts['proxy']) ?? newDict();
    try {
      const session = await found.extension.open(settings, contextOf(this.#parts.runtime, control.signal));
      if (this.#connecting === control) this.#open = { session, control };
      // Given up meanwhile.
      else await session.close();
    } catch (error) {
      control.abort();
      throw error;
    }
  }

  /** One after the other, each in limited time, unless the type can do more. */
  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (running.getStore() === this) return work();
    if (this.#waiting >= mostWaiting)
      throw new HaliteError('call.failed', `The device is busy: ${mostWaiting} calls wait for it already`);
    this.#waiting++;
    const before = this.#last;
    let done: () => void = () => undefined;
    const turn = new Promise<void>((resolve) => {
      done = resolve;
    });
    if (this.#type?.concurrent === true) done();
    else this.#last = turn;
    try {
      await (this.#type?.concurrent === true ? undefined : before);
      return await running.run(this, () => this.#inTime(work()));
    } catch (error) {
      if (error instanceof PythonEnded) this.#drop(messageOf(error));
      throw error;
    } finally {
      this.#waiting--;
      done();
    }
  }

  #inTime<T>(work: Promise<T>): Promise<T> {
    const seconds = Number(this.#parts.runtime().opts()['proxy_call_timeout'] ?? 0);
    if (!(seconds > 0)) return work;
    return withTimeout(work, seconds * 1000, () => {
      const why = `The device did not answer within ${seconds} s`;
      this.#drop(why);
      throw new HaliteError('wire.timeout', why);
    });
  }

  /** The session is of no use any more: nothing is said to it. */
  #drop(why: string): void {
    for (const control of [this.#open?.control, this.#connecting]) control?.abort();
    this.#open = undefined;
    this.#connecting = undefined;
    this.#parts.lost(why);
  }
}

/** What a proxy type sees; functions that it calls may use the device in turn. */
function contextOf(runtime: () => Runtime, signal: AbortSignal): ProxyContext {
  const context = () => createContext(runtime(), { signal, progress: () => undefined, retcode: 0, cache: new Map() });
  return {
    signal,
    get id() {
      return runtime().id;
    },
    get opts() {
      return runtime().opts();
    },
    get grains() {
      return runtime().grains();
    },
    get pillar() {
      return runtime().pillar();
    },
    get log() {
      return runtime().log;
    },
    call: (fun, ...args) => context().callWith<string>(fun, args, newDict()),
    callWith: (fun, args, kwargs) => context().callWith(fun, args, kwargs),
    exec: (file, args, options) => context().exec(file, args, options),
  };
}
