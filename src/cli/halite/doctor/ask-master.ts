// Asks a master with this minion's own key what it thinks of it. Nothing is stored.
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { MasterAddress, MinionOpts } from '../../../base/config/index.ts';
import { messageOf } from '../../../base/errors/index.ts';
import { buildAuthRequest, judgeReply } from '../../../minion/link/auth-reply.ts';
import { loadIdentity } from '../../../minion/link/identity.ts';
import { networkOptions } from '../../../minion/link/network.ts';
import { MasterTrust } from '../../../minion/link/trust.ts';
import { getTransport } from '../../../protocol/wire/transports.ts';

export type MasterOpinion =
  | { readonly kind: 'accepted'; readonly member: string | undefined }
  | { readonly kind: 'refused'; readonly text: string };

/** Undefined when this minion has not met its masters yet: asking would introduce it. */
export async function askMaster(opts: MinionOpts, address: MasterAddress): Promise<MasterOpinion | undefined> {
  if (!['minion.pem', 'minion_master.pub'].every((name) => existsSync(join(opts.pki_dir, name)))) return undefined;
  const transport = await getTransport(opts.transport);
  const [identity, trust] = await Promise.all([loadIdentity(opts), MasterTrust.load(opts)]);
  const client = transport.dial({ ...address, ...networkOptions(opts) });
  try {
    const request = buildAuthRequest(
      identity,
      trust.stored,
      randomUUID().replaceAll('-', ''),
      undefined,
      opts.verify_master_pubkey_sign,
    );
    const reply = await client.request(request.payload, { timeoutMs: opts.auth_timeout * 1000 });
    const name = `${address.host}:${address.port}`;
    const result = await judgeReply(reply, request, identity, trust, opts.minimum_master_version, name);
    if (result.kind === 'accepted') {
      const { cluster } = result.credentials;
      return { kind: 'accepted', member: cluster && `${cluster.name}/${cluster.member}` };
    }
    return { kind: 'refused', text: 'text' in result ? result.text : `its answer is "${result.kind}"` };
  } catch (error) {
    return { kind: 'refused', text: messageOf(error) };
  } finally {
    client.close();
  }
}
