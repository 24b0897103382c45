// In which order the masters of the configuration are tried.
import { crc32 } from 'node:zlib';
import { type MasterAddress, type MinionOpts, masterAddresses } from '../../../base/config/index.ts';
import { HaliteError } from '../../../base/errors/index.ts';

export const nameOf = ({ host, port }: MasterAddress): string => `${host}:${port}`;

type OrderOpts = Pick<
  MinionOpts,
  'id' | 'master_type' | 'random_master' | 'master_shuffle' | 'master_failback' | 'master_port' | 'master_uri_format'
>;

/** All masters at the same time (`str`), or one after the other. */
export const usesAllMasters = ({ master_type: type }: Pick<MinionOpts, 'master_type'>): boolean =>
  type === 'str' || type === 'standard';

const knownTypes = new Set(['str', 'standard', 'failover', 'distributed', 'func', 'disable']);

export function checkMasterType({ master_type: type }: Pick<MinionOpts, 'master_type'>): void {
  if (knownTypes.has(type)) return;
  throw new HaliteError('config.value', `master_type: "${type}" is not known`, {
    hint: 'Set it to str (all masters at the same time), failover, distributed, func or disable.',
    details: { option: 'master_type' },
  });
}

/** Each once, in the order in which they are tried. `master` is the value of that option, or what a function returned. */
export function mastersInOrder(
  opts: OrderOpts,
  master: string | readonly string[],
  random: () => number = Math.random,
): MasterAddress[] {
  const { master_port, master_uri_format } = opts;
  const all = masterAddresses({ master, master_port, master_uri_format });
  const list = all.filter((address, at) => all.findIndex((other) => nameOf(other) === nameOf(address)) === at);
  if (usesAllMasters(opts)) return list;
  if (opts.master_type === 'distributed') return distributed(opts.id, list);
  if (!opts.random_master && !opts.master_shuffle) return list;
  // The first one is where a minion returns to: it stays the first.
  const kept = opts.master_failback ? 1 : 0;
  return [...list.slice(0, kept), ...shuffled(list.slice(kept), random)];
}

/** Masters that are listed more than once, with the same address. */
export function listedTwice(
  opts: Pick<OrderOpts, 'master_port' | 'master_uri_format'>,
  master: string | readonly string[],
): string[] {
  const { master_port, master_uri_format } = opts;
  const names = masterAddresses({ master, master_port, master_uri_format }).map(nameOf);
  return [...new Set(names.filter((name, at) => names.indexOf(name) !== at))];
}

/** The id decides which one is the first, so that minions spread over the masters and each stays with its own. */
function distributed(id: string, list: readonly MasterAddress[]): MasterAddress[] {
  const first = list.length > 0 ? crc32(Buffer.from(id)) % list.length : 0;
  return [...list.slice(first), ...list.slice(0, first)];
}

function shuffled<T>(list: readonly T[], random: () => number): T[] {
  const rest = [...list];
  for (let last = rest.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [rest[last], rest[other]] = [rest[other]!, rest[last]!];
  }
  return rest;
}

/** After a loss the lost one comes last. */
export function lostLast(list: readonly MasterAddress[], lost: string | undefined): MasterAddress[] {
  return [...list.filter((address) => nameOf(address) !== lost), ...list.filter((address) => nameOf(address) === lost)];
}
