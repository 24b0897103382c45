// Proxy types: how a proxy minion talks to a device that cannot run a minion itself.
import { asText, type Dict, fieldOf, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { Availability } from './availability.ts';
import type { ExecOptions, ExecResult, ExtensionLog } from './exec.ts';
import { type KnownKeys, withKnownKeys } from './known-keys.ts';

/** The context of one device. It is in a process of its own, so that a driver that hangs does not stop the minion. */
export interface ProxyContext {
  /** The id of the proxy minion. */
  readonly id: string;
  readonly opts: Readonly<Record<string, Value>>;
  readonly grains: Dict;
  readonly pillar: Dict;
  readonly log: ExtensionLog;
  /** Aborted when the connection to the device ends. */
  readonly signal: AbortSignal;
  call(fun: string, ...args: Value[]): Promise<Value>;
  callWith(fun: string, args: readonly Value[], kwargs: PlainDict): Promise<Value>;
  exec(file: string, args: readonly string[], options?: ExecOptions): Promise<ExecResult>;
}

export type ProxyFunction = (args: readonly Value[], kwargs: PlainDict) => Value | Promise<Value>;

/** An open connection to a device. */
export interface ProxySession {
  /**
   * What execution modules and states call (`ctx.proxy.call('package_list')`). Some have a meaning for the minion itself:
   * `ping` for test.ping, `alive` for the regular check, `grains` and `grains_refresh`, `module_executors`.
   */
  readonly functions: Readonly<Record<string, ProxyFunction>>;
  /** Ends the connection. */
  close(): void | Promise<void>;
}

export interface ProxySpec {
  readonly name: string;
  readonly virtualName?: string;
  readonly doc: string;
  /** The pillar of such a proxy, as YAML. */
  readonly examples?: readonly string[];
  /** Several calls may be under way at the same time; without it a device gets one after the other. */
  readonly concurrent?: boolean;
  /** true, or the reason why it is not usable. */
  readonly available?: (system: Availability) => true | string | Promise<true | string>;
  /** Connects to the device that `settings`, the map `proxy` of pillar or configuration, describes. */
  open(settings: PlainDict, ctx: ProxyContext): ProxySession | Promise<ProxySession>;
}

/** A proxy type as seen by the loader. */
export interface ProxyType extends ProxySpec {
  readonly kind: 'proxies';
}

const proxyKeys: KnownKeys<ProxySpec> = {
  ...{ name: true, virtualName: true, doc: true, examples: true },
  ...{ concurrent: true, available: true, open: true },
};

export function defineProxy(spec: ProxySpec): ProxyType {
  return { kind: 'proxies', ...withKnownKeys('defineProxy()', spec, proxyKeys) };
}

/** The device of this proxy minion, for functions and grains. */
export interface ProxyServices {
  /** Its type: `proxytype`. */
  readonly type: string;
  names(): Promise<string[]>;
  has(fun: string): Promise<boolean>;
  call(fun: string, args?: readonly Value[], kwargs?: PlainDict): Promise<Value>;
  /** Connects again when the device says that it is not alive; false for a type that cannot say it. */
  reconnect(): Promise<boolean>;
}

/** The type of the proxied device; undefined on ordinary minions, and before a proxy knows its device. */
export function proxyTypeOf(opts: Readonly<Record<string, Value>>): string | undefined {
  return asText(fieldOf(opts['proxy'], 'proxytype')) || undefined;
}

/** Whether these options are those of a proxy minion. */
export const isProxyMinion = (opts: Readonly<Record<string, Value>>): boolean => typeof opts['proxyid'] === 'string';
