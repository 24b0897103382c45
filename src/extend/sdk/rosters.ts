// Rosters: the hosts that salt-ssh reaches, by id.
import type { Dict, Value } from '../../base/codec/value.ts';
import type { ExecOptions, ExecResult, ExtensionLog } from './exec.ts';
import { type KnownKeys, withKnownKeys } from './known-keys.ts';

/** The target of the command: an expression, or the ids of a list. */
export interface RosterTarget {
  readonly tgt: string | readonly string[];
  /** `glob`, `pcre`, `list`, `nodegroup`, `grain`, … */
  readonly kind: string;
}

/** What a master remembers of a minion. */
export interface KnownMinion {
  readonly grains: Dict;
  readonly pillar: Dict;
  readonly mine: Dict;
}

export interface RosterContext {
  /** The options of the master and of the command. */
  readonly opts: Readonly<Record<string, Value>>;
  readonly log: ExtensionLog;
  readonly signal: AbortSignal;
  /** The roster file: that of the command, else `roster` in the configuration folder. Throws when there is none. */
  rosterFile(): string;
  /** A file through its renderers. */
  render(path: string): Promise<Value>;
  /** Those of the ids that the target covers. Throws for a kind of target that ids cannot answer. */
  matching(ids: readonly string[]): string[];
  exec(file: string, args: readonly string[], options?: ExecOptions): Promise<ExecResult>;
  /** The minions that the master remembers and the target covers, by id. */
  knownMinions(): Promise<ReadonlyMap<string, KnownMinion>>;
  /** The value behind an `sdb://` address. */
  secret(address: string): Promise<Value>;
}

export interface RosterSpec {
  readonly name: string;
  readonly doc: string;
  /** The matching entries by id: an address, or a map with `host`, `user`, `port`, … */
  targets(target: RosterTarget, ctx: RosterContext): Dict | Promise<Dict>;
}

export interface Roster extends RosterSpec {
  readonly kind: 'rosters';
}

const rosterKeys: KnownKeys<RosterSpec> = { name: true, doc: true, targets: true };

export function defineRoster(spec: RosterSpec): Roster {
  return { kind: 'rosters', ...withKnownKeys('defineRoster()', spec, rosterKeys) };
}
