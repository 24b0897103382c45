// The clients of lowstate, by name: a name that is not in this table cannot be called.
import { pyStr } from '../../base/codec/python/repr.ts';
import type { PlainDict } from '../../base/codec/value.ts';
import { ApiError } from '../http/errors.ts';
import type { ApiSettings } from '../settings.ts';
import type { Call, Item } from './call.ts';
import { runner, runnerAsync, wheel, wheelAsync } from './functions.ts';
import { local, localAsync, localBatch, localSubset } from './local.ts';
import { ssh } from './ssh.ts';

/** The items for the answer, mostly one. */
type Client = (call: Call) => Promise<Item[]>;

const clients: ReadonlyMap<string, Client> = new Map<string, Client>([
  ['local', local],
  ['local_async', localAsync],
  ['local_batch', localBatch],
  ['local_subset', localSubset],
  ['runner', runner],
  ['runner_async', runnerAsync],
  ['ssh', ssh],
  ['wheel', wheel],
  ['wheel_async', wheelAsync],
]);

export const clientNames = [...clients.keys()].sort();

export function clientFor(chunk: PlainDict, { clients: enabled }: ApiSettings): Client {
  const name = chunk['client'];
  const client = typeof name === 'string' ? clients.get(name) : undefined;
  if (!client || typeof name !== 'string')
    throw new ApiError(400, `Invalid client specified: '${pyStr(name ?? null).slice(0, 64)}'`);
  if (!enabled.has(name))
    throw new ApiError(
      400,
      `Client disabled: '${name}'. Add to 'netapi_enable_clients' master config option to enable.`,
    );
  return client;
}
