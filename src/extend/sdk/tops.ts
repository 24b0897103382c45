// Assignments of states from sources other than top files: `master_tops` in the master's configuration.
import type { Dict, Value } from '../../base/codec/value.ts';
import type { ExecOptions, ExecResult, ExtensionLog } from './exec.ts';
import { type KnownKeys, withKnownKeys } from './known-keys.ts';

/** The context of such a source. */
export interface TopsContext {
  /** The requesting minion. */
  readonly minionId: string;
  /** As the minion sent them. */
  readonly grains: Dict;
  /** The options that the minion sent with its request. */
  readonly minionOpts: Dict;
  /** The master's options. */
  readonly opts: Readonly<Record<string, Value>>;
  readonly log: ExtensionLog;
  readonly signal: AbortSignal;
  exec(file: string, args: readonly string[], options?: ExecOptions): Promise<ExecResult>;
}

export interface TopsSpec {
  readonly name: string;
  readonly doc: string;
  /** Environment → names of state files; `settings` is the value below the name in `master_tops`. */
  assign(settings: Value, ctx: TopsContext): Dict | Promise<Dict>;
}

export interface Tops extends TopsSpec {
  readonly kind: 'tops';
}

const topsKeys: KnownKeys<TopsSpec> = { name: true, doc: true, assign: true };

export function defineTops(spec: TopsSpec): Tops {
  return { kind: 'tops', ...withKnownKeys('defineTops()', spec, topsKeys) };
}
