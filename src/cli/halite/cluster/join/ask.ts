// Asks the members of the cluster, and believes only what the holder of their RSA key says to this request.
import { createPublicKey, randomBytes, verify } from 'node:crypto';
import { cleanKey, fingerprint } from '../../../../base/crypto/index.ts';
import { HaliteError } from '../../../../base/errors/index.ts';
import { haliteVersion } from '../../../../base/util/version.ts';
import { visibleLine } from '../../../../base/util/visible.ts';
import { ownLevel } from '../../../../engine/cluster/alone.ts';
import type { Identity } from '../../../../engine/cluster/identity.ts';
import { type Invitation, verifierOf } from '../../../../engine/cluster/joining/invitation.ts';
import {
  type Handover,
  type JoinRequest,
  openHandover,
  readAnswer,
  requestBytes,
  signedText,
} from '../../../../engine/cluster/joining/messages.ts';
import type { ClusterOptions } from '../../../../engine/cluster/options.ts';

export interface Asking {
  readonly invitation: Invitation;
  readonly options: ClusterOptions;
  readonly identity: Identity;
  readonly member: string;
  readonly wantsKeys: boolean;
}

const patienceMs = 20_000;
/** A refusal that anybody could have sent counts when nothing better comes. */
const unprovenMs = 4000;

export async function askMembers(asking: Asking, say: (text: string) => void): Promise<Handover> {
  const { invitation, options, identity, member, wantsKeys } = asking;
  const request: JoinRequest = {
    ...{
      invitation: invitation.id,
      key: identity.publicKey,
      member,
      level: ownLevel,
      version: haliteVersion,
      wantsKeys,
    },
    nonce: randomBytes(16),
  };
  const verifier = verifierOf(invitation.id, invitation.secret);
  const { askToJoin } = await import('../../../../engine/cluster/nats/ask-to-join.ts');
  say(`asking the members of ${invitation.cluster} (${options.servers.join(', ')})`);
  let unproven = '';
  const began = performance.now();
  for await (const bytes of askToJoin(options, requestBytes(request, verifier), patienceMs)) {
    const answer = readAnswer(request, verifier, bytes);
    // Somebody who is no member can answer too: what is not proven is nothing.
    if (!answer) continue;
    if (answer.kind === 'sealed') return checked(request, invitation, identity, answer.sealed);
    if (answer.proven)
      throw new HaliteError('cluster.refused', `The cluster ${invitation.cluster} refuses: ${visibleLine(answer.why)}`);
    unproven = visibleLine(answer.why);
    if (performance.now() - began > unprovenMs) break;
  }
  if (unproven !== '')
    throw new HaliteError('cluster.refused', `The cluster ${invitation.cluster} refuses: ${unproven}`, {
      hint: 'Make a new invitation on a member: salt-run cluster.invite',
    });
  throw new HaliteError(
    'cluster.cut-off',
    `No member of the cluster ${invitation.cluster} answered within ${patienceMs / 1000} s`,
    {
      hint: 'Does a master of it run, and is it connected to the nats-servers (salt-run cluster.status)? Then run this again: the invitation is still good.',
    },
  );
}

function checked(request: JoinRequest, invitation: Invitation, identity: Identity, sealed: Uint8Array): Handover {
  const handover = openHandover(request, (purpose, bytes) => identity.open(purpose, bytes), sealed);
  if (!handover) throw untrue('its content cannot be read');
  const found = fingerprint(cleanKey(handover.masterKey));
  if (found !== invitation.fingerprint) {
    throw untrue(`it is by a master with the key ${found}; the invitation says ${invitation.fingerprint}`);
  }
  let isSigned = false;
  try {
    isSigned = verify(
      'sha256',
      Buffer.from(signedText(request)),
      createPublicKey(handover.masterKey),
      handover.signature,
    );
  } catch {
    // No key at all.
  }
  if (!isSigned) throw untrue('it is not signed by the RSA key of the cluster');
  return handover;
}

const untrue = (why: string): HaliteError =>
  new HaliteError('crypto.verify', `The answer to this invitation is not to be trusted: ${why}. Nothing was changed.`, {
    hint: 'Whoever answered knows the invitation. Make a new one, hand it over by another way, and look who can reach your nats-servers.',
  });
