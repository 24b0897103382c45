// What a way to use the masters of the configuration needs and offers.
import { isTexts, type Value } from '../../../base/codec/value.ts';
import type { MasterAddress, MinionOpts } from '../../../base/config/index.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import type { Logger } from '../../../base/log/index.ts';
import type { MasterLink } from '../master-link.ts';
import type { MasterTrust } from '../trust.ts';
import { checkMasterType, mastersInOrder, usesAllMasters } from './order.ts';

/** What all links of one run of the daemon share, and how this one is used. */
export interface LinkStart {
  readonly trust: MasterTrust;
  readonly boot: string;
  /** Attempts of the first sign-in; without it there is no limit. */
  readonly tries?: number;
  /** Asks the master this often whether it is there, whatever kind of master it is. */
  readonly heartbeatMs?: number;
}

export interface ChoiceParts {
  readonly opts: MinionOpts;
  readonly log: Logger;
  /** Aborted when the daemon stops. */
  readonly signal: AbortSignal;
  newLink(address: MasterAddress, use?: Pick<LinkStart, 'tries' | 'heartbeatMs'>): MasterLink;
  /** Whether a master that is not in use answers. */
  ping(address: MasterAddress): Promise<boolean>;
  /** The value of the function that `master` names (`master_type: func`). */
  evaluate(fun: string): Promise<Value>;
}

/** One way to use them. */
export interface Choice {
  /** Links in use, in the order of the configuration. */
  readonly links: readonly MasterLink[];
  /** Names of all masters that may be used, `host:port`. */
  readonly listed: ReadonlySet<string>;
  /** Other names of a link: the same master may be listed twice. */
  names(link: MasterLink): readonly string[];
  /** Connects in the background. `fatal` is called when no master will ever accept this minion. */
  start(fatal: (error: Error) => void): Promise<void>;
  stop(): void;
}

type Asked = Pick<ChoiceParts, 'opts' | 'evaluate'>;

/** The masters at this moment, in the order in which they are tried. */
export async function currentMasters(parts: Asked): Promise<MasterAddress[]> {
  return mastersInOrder(parts.opts, await namedMasters(parts));
}

/** For a command, which uses one master: the order of `failover`, also where the minion uses all of them. */
export async function mastersForCommand(parts: Asked): Promise<MasterAddress[]> {
  const { opts } = parts;
  checkMasterType(opts);
  const { id, random_master, master_shuffle, master_failback, master_port, master_uri_format } = opts;
  const master_type = usesAllMasters(opts) ? 'failover' : opts.master_type;
  const order = { id, master_type, random_master, master_shuffle, master_failback, master_port, master_uri_format };
  return mastersInOrder(order, await namedMasters(parts));
}

async function namedMasters({ opts, evaluate }: Asked): Promise<string | readonly string[]> {
  if (opts.master_type !== 'func') return opts.master;
  const fun = String(opts.master);
  const found = await evaluate(fun);
  if (typeof found === 'string' || (isTexts(found) && found.length > 0)) return found;
  throw new HaliteError('config.value', `master: the function ${fun} returned no address of a master`, {
    hint: 'It has to return a text such as "host" or "host:4506", or a list of them.',
  });
}
