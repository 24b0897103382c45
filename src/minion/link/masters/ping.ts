// Asks a master that is not in use whether it is there: a clear request that every master answers with itself.
import { pack, unpack } from '../../../base/codec/msgpack/index.ts';
import { isDict, newDict } from '../../../base/codec/value.ts';
import type { MasterAddress, MinionOpts } from '../../../base/config/index.ts';
import { envelopeValue } from '../../../protocol/wire/messages/request.ts';
import type { Transport } from '../../../protocol/wire/transport.ts';
import { networkOptions } from '../network.ts';

const replyLimits = { maxDepth: 8, maxBytes: 4096, maxItems: 32 };

export async function pingMaster(transport: Transport, opts: MinionOpts, address: MasterAddress): Promise<boolean> {
  const client = transport.dial({ ...address, ...networkOptions(opts) });
  try {
    const payload = pack(envelopeValue({ enc: 'clear', load: newDict([['cmd', 'ping']]), version: 3 }));
    const reply = await client.request(payload, { timeoutMs: opts.auth_timeout * 1000 });
    // Nothing of it is used: that it answers is all that is asked, and signing in proves the rest.
    return isDict(unpack(reply, replyLimits));
  } catch {
    return false;
  } finally {
    client.close();
  }
}
