// The connection of a command (salt-call) to a master: the first one in its order that accepts this minion.
import type { PlainDict, Value } from '../../base/codec/value.ts';
import type { MinionOpts } from '../../base/config/index.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { getTransport } from '../../protocol/wire/transports.ts';
import { loadIdentity } from '../link/identity.ts';
import { mastersForCommand } from '../link/masters/choice.ts';
import { nameOf } from '../link/masters/order.ts';
import { type MasterSession, openSession } from '../link/session.ts';
import { MasterTrust } from '../link/trust.ts';

/**
 * Signs in to the first master that accepts; throws the error of the last one when none does. `evaluate` calls the
 * function that names the master (`master_type: func`).
 */
export async function openMasterSession(
  opts: MinionOpts,
  log: Logger,
  grains: PlainDict,
  signal: AbortSignal,
  evaluate: (fun: string) => Promise<Value>,
): Promise<MasterSession> {
  const [identity, transport, trust] = await Promise.all([
    loadIdentity(opts),
    getTransport(opts.transport),
    MasterTrust.load(opts),
  ]);
  let last: unknown = new HaliteError('config.value', 'No master is configured', {
    hint: 'Set master in the minion configuration.',
  });
  for (const address of await mastersForCommand({ opts, evaluate })) {
    try {
      return await openSession({ opts, identity, transport, trust, log, signal, grains: () => grains }, address);
    } catch (error) {
      signal.throwIfAborted();
      last = error;
      log.debug('this master does not accept this minion', { master: nameOf(address), error: messageOf(error) });
    }
  }
  throw last;
}
